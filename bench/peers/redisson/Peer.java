import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntToLongFunction;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.TransportMode;

/** The benchmark's adapter for Redisson: Peer COMMAND ARGS... */
@SuppressWarnings("deprecation")
final class Peer {
    private static final String BODY = "abcdefghijklmnopqrst".repeat(10);
    private static final int BULK = 1000;
    private static final int POLL = 100;

    private final RedissonClient client;
    private final RBlockingQueue<String> queue;

    private Peer() {
        Config config = new Config();
        config.setTransportMode(TransportMode.EPOLL);
        config.useSingleServer()
                .setAddress("redis+uds://" + System.getenv("PEER_REDIS_SOCKET"))
                // The address is a path: no name to resolve again.
                .setDnsMonitoringInterval(-1);
        client = Redisson.create(config);
        queue = client.getBlockingQueue("bench");
    }

    private static void say(String format, Object... values) {
        System.out.println("{" + String.format(format.replace('\'', '"'), values) + "}");
        System.out.flush();
    }

    /** CLOCK_MONOTONIC in seconds, which is what nanoTime counts on Linux. */
    private static double monotonic() {
        return System.nanoTime() / 1e9;
    }

    private static double cpu() {
        return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
                .getProcessCpuTime() / 1e9;
    }

    private void push(int count, String how) throws IOException {
        if (how.equals("one")) {
            timed(count, 1, (begin, end) -> queue.add(BODY));
        } else {
            timed(count, BULK,
                    (begin, end) -> queue.addAll(Collections.nCopies(end - begin, BODY)));
        }
    }

    /** The first of count jobs; then, when a line has been read, the others, `some` a call. */
    private static void timed(int count, int some, BiConsumer<Integer, Integer> step)
            throws IOException {
        step.accept(0, 1);
        say("'ready': true");
        System.in.read();
        double begin = monotonic();
        double spent = cpu();
        for (int i = 1; i < count; i += some) {
            step.accept(i, Math.min(i + some, count));
        }
        say("'count': %d, 'seconds': %.9f, 'cpu': %.6f",
                count - 1, monotonic() - begin, cpu() - spent);
    }

    private void work(int count, String setting) throws InterruptedException {
        int poll = pollOf(setting);
        sayReady(poll);
        double[] at = new double[2];
        double[] spent = new double[1];
        consume(count, poll, data -> {
            at[1] = monotonic();
            if (at[0] == 0) {
                at[0] = at[1];
                spent[0] = cpu();
            }
        });
        say("'first': %.9f, 'last': %.9f, 'count': %d, 'cpu': %.6f",
                at[0], at[1], count, cpu() - spent[0]);
    }

    private static String bodyOf(long due) {
        return String.format("%-" + BODY.length() + "d", due);
    }

    /** Sends the jobs from begin to end together, and waits for all. */
    private static void offer(
            RDelayedQueue<String> delayed, int begin, int end, IntToLongFunction due) {
        List<CompletableFuture<Void>> sent = new ArrayList<>(end - begin);
        for (int i = begin; i < end; i++) {
            long at = due.applyAsLong(i);
            long delay = Math.max(0, at - System.currentTimeMillis());
            sent.add(delayed.offerAsync(bodyOf(at), delay, TimeUnit.MILLISECONDS)
                    .toCompletableFuture());
        }
        CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new)).join();
    }

    private void delay(int count, long spread, long base, String how) throws IOException {
        RDelayedQueue<String> delayed = client.getDelayedQueue(queue);
        IntToLongFunction due = i -> base + i * spread / count;
        int some = how.equals("bulk") ? BULK : 1;
        timed(count, some, (begin, end) -> offer(delayed, begin, end, due));
        delayed.destroy();
    }

    private void cancel(int count) throws IOException {
        RDelayedQueue<String> delayed = client.getDelayedQueue(queue);
        long hour = System.currentTimeMillis() + 3_600_000;
        offer(delayed, 0, count, i -> hour + i);
        timed(count, 1, (i, end) -> delayed.remove(bodyOf(hour + i)));
        delayed.destroy();
    }

    /** Takes count jobs, with the transfer of delayed ones running in this process. */
    private void take(int count, String setting, Consumer<String> handler)
            throws InterruptedException {
        RDelayedQueue<String> delayed = client.getDelayedQueue(queue);
        int poll = pollOf(setting);
        sayReady(poll);
        consume(count, poll, handler);
        delayed.destroy();
    }

    private static int pollOf(String setting) {
        return switch (setting) {
            case "one" -> 1;
            case "best" -> POLL;
            default -> throw new IllegalArgumentException("no setting " + setting);
        };
    }

    private static void sayReady(int poll) {
        say("'ready': true, 'worker': {'poll': %d}", poll);
    }

    private void consume(int count, int poll, Consumer<String> handler)
            throws InterruptedException {
        for (int handled = 0; handled < count;) {
            List<String> jobs = poll > 1 ? queue.poll(poll) : List.of();
            if (jobs.isEmpty()) {
                jobs = List.of(queue.take());
            }
            jobs.forEach(handler);
            handled += jobs.size();
        }
    }

    private void listen(int count, String setting) throws InterruptedException {
        List<Double> late = new ArrayList<>(count);
        take(count, setting, data -> {
            Duration now = Duration.between(Instant.EPOCH, Instant.now());
            late.add(now.toNanos() / 1e6 - Long.parseLong(data.trim()));
        });
        say("'late_ms': %s", late);
    }

    private static void sleep(int seconds) {
        try {
            TimeUnit.SECONDS.sleep(seconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run(String[] args) throws IOException, InterruptedException {
        try {
            command(args);
        } finally {
            client.shutdown();
        }
    }

    private void command(String[] args) throws IOException, InterruptedException {
        switch (args[0]) {
            case "push" -> push(Integer.parseInt(args[1]), args[2]);
            case "work" -> work(Integer.parseInt(args[1]), args[2]);
            case "delay" -> delay(Integer.parseInt(args[1]), Long.parseLong(args[2]),
                    Long.parseLong(args[3]), args[4]);
            case "cancel" -> cancel(Integer.parseInt(args[1]));
            case "listen" -> listen(Integer.parseInt(args[1]), args[2]);
            case "idle" -> take(Integer.MAX_VALUE, "one", data -> say("'handled': true"));
            case "hold" -> take(Integer.MAX_VALUE, "one", data -> {
                say("'took': true, 'at': %.9f", monotonic());
                sleep(Integer.parseInt(args[1]));
            });
            case "rescue" -> take(Integer.MAX_VALUE, "one",
                    data -> say("'handled': true, 'at': %.9f", monotonic()));
            default -> throw new IllegalArgumentException("no command " + args[0]);
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        if (args[0].equals("version")) {
            System.out.printf("redisson %s, java %s%n",
                    Redisson.class.getPackage().getImplementationVersion(),
                    System.getProperty("java.version"));
            return;
        }
        new Peer().run(args);
    }
}
