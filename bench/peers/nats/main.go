// The benchmark's adapter for NATS' scheduled messages: main COMMAND ARGS...
package main

import (
	"context"
	"crypto/rand"
	"os"
	"strconv"
	"time"

	"harness"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	name   = "bench"
	target = "jobs"
	later  = "later."
)

// The server moves a scheduled message to its target when it is due.
var config = jetstream.StreamConfig{
	Name:              name,
	Subjects:          []string{target, later + ">"},
	Retention:         jetstream.WorkQueuePolicy,
	Storage:           jetstream.MemoryStorage,
	AllowMsgSchedules: true,
}

var (
	ctx    = context.Background()
	conn   *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
)

func connect() {
	var err error
	conn, err = nats.Connect(os.Getenv("PEER_NATS_URL"))
	harness.Check(err)
	js, err = jetstream.New(conn)
	harness.Check(err)
	stream, err = js.CreateOrUpdateStream(ctx, config)
	harness.Check(err)
}

func messageOf(job harness.Job) *nats.Msg {
	if job.Due.IsZero() {
		return &nats.Msg{Subject: target, Data: job.Body}
	}
	// A schedule is kept by its subject. WithScheduleAt would cut the time to whole seconds.
	message := nats.NewMsg(later + rand.Text())
	message.Data = job.Body
	message.Header.Set(jetstream.ScheduleHeader, "@at "+job.Due.UTC().Format(time.RFC3339Nano))
	message.Header.Set(jetstream.ScheduleTargetHeader, target)
	return message
}

func push(job harness.Job) string {
	ack, err := js.PublishMsg(ctx, messageOf(job))
	harness.Check(err)
	return strconv.FormatUint(ack.Sequence, 10)
}

func pushMany(jobs []harness.Job) {
	acks := make([]jetstream.PubAckFuture, len(jobs))
	for i, job := range jobs {
		var err error
		acks[i], err = js.PublishMsgAsync(messageOf(job))
		harness.Check(err)
	}
	for _, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			harness.Check(err)
		}
	}
}

func cancel(id string) {
	sequence, err := strconv.ParseUint(id, 10, 64)
	harness.Check(err)
	harness.Check(stream.DeleteMsg(ctx, sequence))
}

func work(options map[string]int, handle func(body []byte)) func() {
	consumer, err := stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable:       "workers",
		AckPolicy:     jetstream.AckExplicitPolicy,
		FilterSubject: target,
	})
	harness.Check(err)
	running, err := consumer.Consume(func(message jetstream.Msg) {
		handle(message.Data())
		harness.Check(message.Ack())
	}, jetstream.PullMaxMessages(options["prefetch"]))
	harness.Check(err)
	return func() {
		running.Drain()
		<-running.Closed()
		harness.Check(conn.Flush())
	}
}

func main() {
	connect()
	harness.Run(harness.Peer{Push: push, PushMany: pushMany, Cancel: cancel, Work: work})
}
