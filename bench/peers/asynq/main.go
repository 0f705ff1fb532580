// The benchmark's adapter for asynq: main COMMAND ARGS...
package main

import (
	"context"
	"os"
	"sync"
	"time"

	"harness"

	"github.com/hibiken/asynq"
)

const kind = "job"

var redis = asynq.RedisClientOpt{Network: "unix", Addr: os.Getenv("PEER_REDIS_SOCKET")}

var client = sync.OnceValue(func() *asynq.Client { return asynq.NewClient(redis) })
var inspector = sync.OnceValue(func() *asynq.Inspector { return asynq.NewInspector(redis) })

func push(job harness.Job) string {
	var options []asynq.Option
	if !job.Due.IsZero() {
		options = append(options, asynq.ProcessAt(job.Due))
	}
	info, err := client().Enqueue(asynq.NewTask(kind, job.Body), options...)
	harness.Check(err)
	return info.ID
}

func work(options map[string]int, handle func(body []byte)) func() {
	server := asynq.NewServer(redis, asynq.Config{
		Concurrency:              options["concurrency"],
		DelayedTaskCheckInterval: time.Duration(options["check_ms"]) * time.Millisecond,
		LogLevel:                 asynq.WarnLevel,
	})
	handler := asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		handle(task.Payload())
		return nil
	})
	harness.Check(server.Start(handler))
	return server.Shutdown
}

func main() {
	harness.Run(harness.Peer{
		Push:   push,
		NoBulk: "asynq's client enqueues one task a call",
		Cancel: func(id string) { harness.Check(inspector().DeleteTask("default", id)) },
		Work:   work,
	})
}
