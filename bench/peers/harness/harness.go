// Package harness is what the adapters of peers in Go have in common: the words of the contract
// (README.md).
package harness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Body is what a job that is due at once carries.
var Body = []byte(strings.Repeat("abcdefghijklmnopqrst", 10))

const bulk = 500

// Job is to be enqueued; it is due at once unless Due is set.
type Job struct {
	Body []byte
	Due  time.Time
}

// Peer is a queue. PushMany may be nil; then NoBulk says why.
type Peer struct {
	// Push returns what Cancel takes.
	Push     func(job Job) string
	PushMany func(jobs []Job)
	NoBulk   string
	// Cancel takes back a job that is not due yet.
	Cancel func(id string)
	// Work starts a worker with options of peer.json. It may call handle from several goroutines.
	// What Work returns acknowledges what was handled and ends the worker.
	Work func(options map[string]int, handle func(body []byte)) func()
}

type figures map[string]any

func say(f figures) {
	line, err := json.Marshal(f)
	Check(err)
	_, err = os.Stdout.Write(append(line, '\n'))
	Check(err)
}

// Check ends the process at an error.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	Check(err)
	return n
}

// monotonic is CLOCK_MONOTONIC in seconds.
func monotonic() float64 {
	var t unix.Timespec
	Check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &t))
	return float64(t.Sec) + float64(t.Nsec)/1e9
}

// cpu is the CPU time of this process in seconds.
func cpu() float64 {
	var u unix.Rusage
	Check(unix.Getrusage(unix.RUSAGE_SELF, &u))
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// optionsOf reads a worker's setting from peer.json.
func optionsOf(setting string) map[string]int {
	var peer struct {
		Workers map[string]map[string]any
	}
	text, err := os.ReadFile(os.Getenv("PEER_SETTINGS"))
	Check(err)
	Check(json.Unmarshal(text, &peer))
	worker, ok := peer.Workers[setting]
	if !ok {
		log.Fatalf("no setting %q", setting)
	}
	options := map[string]int{}
	for key, value := range worker {
		if n, ok := value.(float64); ok && key != "trial" {
			options[key] = int(n)
		}
	}
	return options
}

// timed does the first of count steps. Once it has read a line, it does the others, some a call.
func timed(count, some int, step func(begin, end int)) {
	step(0, 1)
	say(figures{"ready": true})
	_, err := bufio.NewReader(os.Stdin).ReadString('\n')
	Check(err)
	begin, spent := monotonic(), cpu()
	for i := 1; i < count; i += some {
		step(i, min(i+some, count))
	}
	say(figures{"count": count - 1, "seconds": monotonic() - begin, "cpu": cpu() - spent})
}

func push(peer Peer, jobs []Job, how string) {
	switch {
	case how == "one":
		timed(len(jobs), 1, func(i, _ int) { peer.Push(jobs[i]) })
	case peer.PushMany == nil:
		say(figures{"absent": peer.NoBulk})
	default:
		timed(len(jobs), bulk, func(begin, end int) { peer.PushMany(jobs[begin:end]) })
	}
}

func ready(count int) []Job {
	jobs := make([]Job, count)
	for i := range jobs {
		jobs[i] = Job{Body: Body}
	}
	return jobs
}

func delayed(count, spread, base int) []Job {
	jobs := make([]Job, count)
	for i := range jobs {
		due := base + i*spread/count
		body := fmt.Appendf(nil, "%-*d", len(Body), due)
		jobs[i] = Job{Body: body, Due: time.UnixMilli(int64(due))}
	}
	return jobs
}

func cancel(peer Peer, count int) {
	hour := int(time.Now().Add(time.Hour).UnixMilli())
	ids := make([]string, count)
	for i, job := range delayed(count, 1000, hour) {
		ids[i] = peer.Push(job)
	}
	timed(count, 1, func(i, _ int) { peer.Cancel(ids[i]) })
}

// begin starts a worker, and says so.
func begin(peer Peer, setting string, handle func(body []byte)) func() {
	options := optionsOf(setting)
	stop := peer.Work(options, handle)
	say(figures{"ready": true, "worker": options})
	return stop
}

// workUntil stops after count jobs. One goroutine makes all calls of handle.
func workUntil(peer Peer, setting string, count int, handle func(body []byte), done func()) {
	jobs := make(chan []byte)
	finished := make(chan struct{})
	go func() {
		for range count {
			handle(<-jobs)
		}
		close(finished)
	}()
	stop := begin(peer, setting, func(body []byte) { jobs <- body })
	<-finished
	done()
	stop()
}

func work(peer Peer, count int, setting string) {
	var first, last, spent float64
	workUntil(peer, setting, count, func([]byte) {
		last = monotonic()
		if first == 0 {
			first, spent = last, cpu()
		}
	}, func() {
		say(figures{"first": first, "last": last, "count": count, "cpu": cpu() - spent})
	})
}

func listen(peer Peer, count int, setting string) {
	var late []float64
	workUntil(peer, setting, count, func(body []byte) {
		due := float64(number(strings.TrimSpace(string(body))))
		late = append(late, float64(time.Now().UnixMicro())/1000-due)
	}, func() {
		say(figures{"late_ms": late})
	})
}

// Run runs one command: main COMMAND ARGS... The variable PEER_SETTINGS names the peer.json.
func Run(peer Peer) {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM)
	go func() {
		<-stop
		os.Exit(0)
	}()
	command, args := os.Args[1], os.Args[2:]
	switch command {
	case "push":
		push(peer, ready(number(args[0])), args[1])
	case "delay":
		push(peer, delayed(number(args[0]), number(args[1]), number(args[2])), args[3])
	case "cancel":
		cancel(peer, number(args[0]))
	case "work":
		work(peer, number(args[0]), args[1])
	case "listen":
		listen(peer, number(args[0]), args[1])
	case "idle", "rescue":
		begin(peer, "one", func([]byte) { say(figures{"handled": true, "at": monotonic()}) })
		select {}
	case "hold":
		peer.Work(optionsOf("one"), func([]byte) {
			say(figures{"took": true, "at": monotonic()})
			time.Sleep(time.Duration(number(args[0])) * time.Second)
		})
		select {}
	default:
		log.Fatalf("no command %q", command)
	}
}
