import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Offers a reminder that is due in two seconds, and ends. */
public final class Offer {
    public static void main(String[] args) {
        Config config = new Config();
        config.useSingleServer().setAddress(args[0]);
        RedissonClient redisson = Redisson.create(config);
        RDelayedQueue<String> queue =
                redisson.getDelayedQueue(redisson.getBlockingQueue("reminders"));
        queue.offer("cancel order 17 unless it is paid", 2, TimeUnit.SECONDS);
        System.out.println("Java offered a reminder");
        redisson.shutdown();
    }
}
