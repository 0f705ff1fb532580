// The benchmark's adapter for asynq: main COMMAND ARGS...
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"golang.org/x/sys/unix"
)

const (
	kind   = "job"
	noBulk = "asynq's client enqueues one task a call"
)

var (
	body  = []byte(strings.Repeat("abcdefghijklmnopqrst", 10))
	redis = asynq.RedisClientOpt{Network: "unix", Addr: os.Getenv("PEER_REDIS_SOCKET")}
)

type figures map[string]any

func say(f figures) {
	line, err := json.Marshal(f)
	check(err)
	_, err = os.Stdout.Write(append(line, '\n'))
	check(err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	check(err)
	return n
}

// monotonic is CLOCK_MONOTONIC in seconds.
func monotonic() float64 {
	var t unix.Timespec
	check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &t))
	return float64(t.Sec) + float64(t.Nsec)/1e9
}

// cpu is the CPU time of this process in seconds.
func cpu() float64 {
	var u unix.Rusage
	check(unix.Getrusage(unix.RUSAGE_SELF, &u))
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// options of a worker, as peer.json has them.
type options struct {
	Concurrency int `json:"concurrency"`
	CheckMs     int `json:"check_ms"`
}

// optionsOf reads a worker's setting from peer.json.
func optionsOf(setting string) options {
	var peer struct {
		Workers map[string]options
	}
	text, err := os.ReadFile(os.Getenv("PEER_SETTINGS"))
	check(err)
	check(json.Unmarshal(text, &peer))
	found, ok := peer.Workers[setting]
	if !ok {
		log.Fatalf("no setting %q", setting)
	}
	return found
}

func push(count int, how string) {
	if how == "bulk" {
		say(figures{"absent": noBulk})
		return
	}
	client := asynq.NewClient(redis)
	defer client.Close()
	timed(count, func(int) {
		_, err := client.Enqueue(asynq.NewTask(kind, body))
		check(err)
	})
}

// timed does the first of count steps. When it has read a line, it does the others.
func timed(count int, step func(i int)) {
	step(0)
	say(figures{"ready": true})
	_, err := bufio.NewReader(os.Stdin).ReadString('\n')
	check(err)
	begin, spent := monotonic(), cpu()
	for i := 1; i < count; i++ {
		step(i)
	}
	say(figures{"count": count - 1, "seconds": monotonic() - begin, "cpu": cpu() - spent})
}

func enqueueDue(client *asynq.Client, due int) string {
	task := asynq.NewTask(kind, fmt.Appendf(nil, "%-*d", len(body), due))
	info, err := client.Enqueue(task, asynq.ProcessAt(time.UnixMilli(int64(due))))
	check(err)
	return info.ID
}

func delay(count, spread, base int, how string) {
	if how == "bulk" {
		say(figures{"absent": noBulk})
		return
	}
	client := asynq.NewClient(redis)
	defer client.Close()
	timed(count, func(i int) { enqueueDue(client, base+i*spread/count) })
}

func cancel(count int) {
	client := asynq.NewClient(redis)
	defer client.Close()
	inspector := asynq.NewInspector(redis)
	defer inspector.Close()
	hour := int(time.Now().Add(time.Hour).UnixMilli())
	ids := make([]string, count)
	for i := range ids {
		ids[i] = enqueueDue(client, hour+i)
	}
	timed(count, func(i int) { check(inspector.DeleteTask("default", ids[i])) })
}

// serve starts a worker whose tasks go to handle.
func serve(setting string, handle func(data []byte)) *asynq.Server {
	options := optionsOf(setting)
	server := asynq.NewServer(redis, asynq.Config{
		Concurrency:              options.Concurrency,
		DelayedTaskCheckInterval: time.Duration(options.CheckMs) * time.Millisecond,
		LogLevel:                 asynq.WarnLevel,
	})
	check(server.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		handle(task.Payload())
		return nil
	})))
	say(figures{"ready": true, "worker": options})
	return server
}

// serveUntil stops after count tasks. One goroutine makes all calls of handle.
func serveUntil(count int, setting string, handle func(data []byte), done func()) {
	tasks := make(chan []byte)
	finished := make(chan struct{})
	go func() {
		for range count {
			handle(<-tasks)
		}
		close(finished)
	}()
	server := serve(setting, func(data []byte) { tasks <- data })
	<-finished
	done()
	server.Shutdown()
}

func work(count int, setting string) {
	var first, last, spent float64
	serveUntil(count, setting, func([]byte) {
		last = monotonic()
		if first == 0 {
			first, spent = last, cpu()
		}
	}, func() {
		say(figures{"first": first, "last": last, "count": count, "cpu": cpu() - spent})
	})
}

func listen(count int, setting string) {
	var late []float64
	serveUntil(count, setting, func(data []byte) {
		due := float64(number(strings.TrimSpace(string(data))))
		late = append(late, float64(time.Now().UnixMicro())/1000-due)
	}, func() {
		say(figures{"late_ms": late})
	})
}

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM)
	go func() {
		<-stop
		os.Exit(0)
	}()
	command, args := os.Args[1], os.Args[2:]
	switch command {
	case "push":
		push(number(args[0]), args[1])
	case "work":
		work(number(args[0]), args[1])
	case "delay":
		delay(number(args[0]), number(args[1]), number(args[2]), args[3])
	case "cancel":
		cancel(number(args[0]))
	case "listen":
		listen(number(args[0]), args[1])
	case "idle":
		serve("one", func([]byte) { say(figures{"handled": true}) })
		select {}
	case "hold":
		serve("one", func([]byte) {
			say(figures{"took": true, "at": monotonic()})
			time.Sleep(time.Duration(number(args[0])) * time.Second)
		})
		select {}
	case "rescue":
		serve("one", func([]byte) { say(figures{"handled": true, "at": monotonic()}) })
		select {}
	default:
		log.Fatalf("no command %q", command)
	}
}
