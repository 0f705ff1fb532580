import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
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
                // A path is no host whose address could change.
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
        queue.add(BODY);
        say("'ready': true");
        System.in.read();
        int rest = count - 1;
        double begin = monotonic();
        double spent = cpu();
        if (how.equals("one")) {
            for (int i = 0; i < rest; i++) {
                queue.add(BODY);
            }
        } else {
            for (int i = 0; i < rest; i += BULK) {
                queue.addAll(Collections.nCopies(Math.min(BULK, rest - i), BODY));
            }
        }
        say("'count': %d, 'seconds': %.9f, 'cpu': %.6f", rest, monotonic() - begin, cpu() - spent);
    }

    private void work(int count, String setting) throws InterruptedException {
        say("'ready': true");
        double first = 0;
        double last = 0;
        double spent = 0;
        for (int handled = 0; handled < count;) {
            List<String> jobs = setting.equals("best") ? queue.poll(POLL) : List.of();
            if (jobs.isEmpty()) {
                jobs = List.of(queue.take());
            }
            for (int i = 0; i < jobs.size(); i++) {
                last = monotonic();
                if (handled++ == 0) {
                    first = last;
                    spent = cpu();
                }
            }
        }
        say("'first': %.9f, 'last': %.9f, 'count': %d, 'cpu': %.6f", first, last, count, cpu() - spent);
    }

    private void delay(int count, long spread, long base) {
        RDelayedQueue<String> delayed = client.getDelayedQueue(queue);
        List<CompletableFuture<Void>> sent = new ArrayList<>(BULK);
        for (int i = 0; i < count; i++) {
            long due = base + i * spread / count;
            long delay = Math.max(0, due - System.currentTimeMillis());
            String data = String.format("%-" + BODY.length() + "d", due);
            sent.add(delayed.offerAsync(data, delay, TimeUnit.MILLISECONDS).toCompletableFuture());
            if (sent.size() == BULK || i == count - 1) {
                CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new)).join();
                sent.clear();
            }
        }
        say("'pushed': %d", count);
        delayed.destroy();
    }

    /** Takes count jobs, one at a time, with the transfer of delayed ones running in this process. */
    private void take(int count, Consumer<String> handler) throws InterruptedException {
        RDelayedQueue<String> delayed = client.getDelayedQueue(queue);
        say("'ready': true");
        for (int i = 0; i < count; i++) {
            handler.accept(queue.take());
        }
        delayed.destroy();
    }

    private void listen(int count) throws InterruptedException {
        List<Double> late = new ArrayList<>(count);
        take(count, data -> {
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
            case "delay" -> delay(Integer.parseInt(args[1]), Long.parseLong(args[2]), Long.parseLong(args[3]));
            case "listen" -> listen(Integer.parseInt(args[1]));
            case "idle" -> take(Integer.MAX_VALUE, data -> say("'handled': true"));
            case "hold" -> take(Integer.MAX_VALUE, data -> {
                say("'took': true, 'at': %.9f", monotonic());
                sleep(Integer.parseInt(args[1]));
            });
            case "rescue" -> take(Integer.MAX_VALUE, data -> say("'handled': true, 'at': %.9f", monotonic()));
            default -> throw new IllegalArgumentException("no command " + args[0]);
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        if (args[0].equals("version")) {
            System.out.printf("redisson %s, java %s%n",
                    Redisson.class.getPackage().getImplementationVersion(), System.getProperty("java.version"));
            return;
        }
        new Peer().run(args);
    }
}
