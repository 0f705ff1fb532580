import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.Codec;
import org.redisson.client.codec.LongCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.JsonJacksonCodec;
import org.redisson.codec.Kryo5Codec;
import org.redisson.codec.TypedJsonJacksonCodec;
import org.redisson.config.Config;

/**
 * Redisson for the tests: one JSON object a line on standard input, one answer a line on standard
 * output, {"ok": ...} or {"error": "..."}. Each request has "do". A request on a queue has "queue"
 * and "codec". This program holds at most one delayed queue for each name and codec. The queue's
 * transfer runs until "release".
 */
@SuppressWarnings("deprecation")
final class Peer {
    /** What a shop would send: an object of a class that only Java knows. */
    public static class Order {
        public String name;
        public int count;
    }

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream OUT =
            new PrintStream(System.out, false, StandardCharsets.UTF_8);

    private final Map<String, RDelayedQueue<Object>> held = new HashMap<>();
    private RedissonClient client;

    /** A codec of Jackson 3, which Redisson has from 4.1 on. */
    private static Codec jackson3(String name, Object... arguments) {
        try {
            Class<?>[] none = new Class<?>[0];
            Class<?>[] types = arguments.length == 0 ? none : new Class<?>[] {Class.class};
            Class<?> codec = Class.forName("org.redisson.codec." + name);
            return (Codec) codec.getConstructor(types).newInstance(arguments);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("no codec " + name, e);
        }
    }

    private static Codec codec(String name) {
        return switch (name) {
            case "kryo5" -> new Kryo5Codec();
            case "string" -> StringCodec.INSTANCE;
            case "bytearray" -> ByteArrayCodec.INSTANCE;
            case "long" -> LongCodec.INSTANCE;
            case "jsonjackson" -> new JsonJacksonCodec();
            case "typedjson" -> new TypedJsonJacksonCodec(Object.class);
            case "jsonjackson3" -> jackson3("JsonJackson3Codec");
            case "typedjson3" -> jackson3("TypedJsonJackson3Codec", Object.class);
            default -> throw new IllegalArgumentException("no codec " + name);
        };
    }

    private static Object plain(JsonNode node) {
        return JSON.convertValue(node, Object.class);
    }

    private static Object value(JsonNode typed) {
        JsonNode value = typed.get("value");
        return switch (typed.get("type").asText()) {
            case "null" -> null;
            case "string" -> value.asText();
            case "int" -> value.asInt();
            case "long" -> value.asLong();
            case "double" -> Double.parseDouble(value.asText());
            case "bool" -> value.asBoolean();
            case "bytes" -> HexFormat.of().parseHex(value.asText());
            case "list", "map" -> plain(value);
            case "object" -> {
                Order order = new Order();
                order.name = value.get("name").asText();
                order.count = value.get("count").asInt();
                yield order;
            }
            default -> throw new IllegalArgumentException("no type " + typed);
        };
    }

    private static JsonNode typed(Object value) {
        ObjectNode node = JSON.createObjectNode();
        if (value == null) {
            return node.put("type", "null").putNull("value");
        } else if (value instanceof String text) {
            return node.put("type", "string").put("value", text);
        } else if (value instanceof Integer number) {
            return node.put("type", "int").put("value", number);
        } else if (value instanceof Long number) {
            return node.put("type", "long").put("value", number);
        } else if (value instanceof Double number) {
            return node.put("type", "double").put("value", number.toString());
        } else if (value instanceof Boolean truth) {
            return node.put("type", "bool").put("value", truth);
        } else if (value instanceof byte[] bytes) {
            return node.put("type", "bytes").put("value", HexFormat.of().formatHex(bytes));
        } else if (value instanceof Collection) {
            return node.put("type", "list").set("value", JSON.valueToTree(value));
        } else if (value instanceof Map) {
            return node.put("type", "map").set("value", JSON.valueToTree(value));
        }
        return node.put("type", "object").set("value", JSON.valueToTree(value));
    }

    private static List<JsonNode> typed(Collection<?> values) {
        List<JsonNode> nodes = new ArrayList<>(values.size());
        for (Object value : values) {
            nodes.add(typed(value));
        }
        return nodes;
    }

    private static void say(String key, Object value) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put(key, value);
        try {
            OUT.println(JSON.writeValueAsString(line));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        OUT.flush();
    }

    private RBlockingQueue<Object> queue(JsonNode request) {
        Codec codec = codec(request.get("codec").asText());
        return client.getBlockingQueue(request.get("queue").asText(), codec);
    }

    private static String key(JsonNode request) {
        return request.get("codec").asText() + " " + request.get("queue").asText();
    }

    private interface Work {
        Object with(RDelayedQueue<Object> delayed) throws IOException;
    }

    /** Does work with the delayed queue that "hold" made, or else with one for this call. */
    private Object delayed(JsonNode request, Work work) throws IOException {
        RDelayedQueue<Object> delayed = held.get(key(request));
        if (delayed != null) {
            return work.with(delayed);
        }
        delayed = client.getDelayedQueue(queue(request));
        try {
            return work.with(delayed);
        } finally {
            delayed.destroy();
        }
    }

    private void close() {
        held.values().forEach(RDelayedQueue::destroy);
        held.clear();
        client.shutdown(0, 5, TimeUnit.SECONDS);
    }

    private void connect(JsonNode request) {
        Config config = new Config();
        config.setThreads(2);
        config.setNettyThreads(4);
        config.useSingleServer()
                .setAddress("redis://127.0.0.1:" + request.get("port").asInt())
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(8)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setRetryAttempts(20);
        client = Redisson.create(config);
    }

    /** Offers the strings PREFIX0, PREFIX1 ... with delays from low to high. "say": prints each. */
    private int produce(RDelayedQueue<Object> delayed, JsonNode request) {
        String prefix = request.get("prefix").asText();
        int count = request.get("count").asInt();
        int low = request.get("low").asInt();
        int high = request.get("high").asInt();
        boolean each = request.path("say").asBoolean();
        Random random = new Random(request.path("seed").asLong());
        for (int i = 0; i < count; i++) {
            delayed.offer(prefix + i, low + random.nextInt(high - low + 1), TimeUnit.MILLISECONDS);
            if (each) {
                say("offered", prefix + i);
            }
        }
        return count;
    }

    /** Takes up to count values. Ends when no value came for "quiet" seconds. */
    private List<JsonNode> consume(JsonNode request) throws InterruptedException {
        RBlockingQueue<Object> queue = queue(request);
        int count = request.get("count").asInt();
        boolean each = request.path("say").asBoolean();
        List<JsonNode> took = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Object value = queue.poll(request.get("quiet").asInt(), TimeUnit.SECONDS);
            if (value == null) {
                break;
            }
            if (each) {
                say("took", typed(value));
            } else {
                took.add(typed(value));
            }
        }
        return took;
    }

    private Object answer(JsonNode request) throws IOException, InterruptedException {
        String verb = request.get("do").asText();
        return switch (verb) {
            case "version" -> Redisson.class.getPackage().getImplementationVersion();
            case "java" -> Runtime.version().feature();
            case "connect" -> {
                connect(request);
                yield true;
            }
            case "close" -> {
                close();
                yield true;
            }
            case "hold" -> {
                held.put(key(request), client.getDelayedQueue(queue(request)));
                yield true;
            }
            case "release" -> {
                held.remove(key(request)).destroy();
                yield true;
            }
            case "offer" -> delayed(request, delayed -> {
                long delay = request.get("delay").asLong();
                delayed.offer(value(request.get("value")), delay, TimeUnit.MILLISECONDS);
                return true;
            });
            case "delayed.size" -> delayed(request, Collection::size);
            case "delayed.peek" -> delayed(request, delayed -> typed(delayed.peek()));
            case "delayed.poll" -> delayed(request, delayed -> typed(delayed.poll()));
            case "delayed.remove" ->
                    delayed(request, delayed -> delayed.remove(value(request.get("value"))));
            case "delayed.contains" ->
                    delayed(request, delayed -> delayed.contains(value(request.get("value"))));
            case "delayed.all" -> delayed(request, delayed -> typed(delayed.readAll()));
            case "delayed.clear" -> delayed(request, delayed -> {
                delayed.clear();
                return true;
            });
            case "produce" -> delayed(request, delayed -> produce(delayed, request));
            case "consume" -> consume(request);
            case "push" -> queue(request).offer(value(request.get("value")));
            case "take" -> typed(queue(request).take());
            case "poll" ->
                    typed(queue(request).poll(request.get("seconds").asLong(), TimeUnit.SECONDS));
            case "size" -> queue(request).size();
            case "all" -> typed(queue(request).readAll());
            case "remove" -> queue(request).remove(value(request.get("value")));
            case "contains" -> queue(request).contains(value(request.get("value")));
            default -> throw new IllegalArgumentException("no verb " + verb);
        };
    }

    public static void main(String[] args) throws IOException {
        Peer peer = new Peer();
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try {
                say("ok", peer.answer(JSON.readTree(line)));
            } catch (Exception e) {
                say("error", e.toString());
            }
        }
        System.exit(0);
    }
}
