/*
 * Runs a PHP script in several threads at once, each with a request of its own, as FrankenPHP does:
 * threads N SCRIPT. The script finds the number of its thread in $thread. Ends with 1 if a script
 * threw. Needs a PHP with threads.
 */
#include <pthread.h>
#include <sapi/embed/php_embed.h>
#include <stdio.h>
#include <stdlib.h>

ZEND_TSRMLS_CACHE_DEFINE()

enum { REQUESTS = 3, MAX_THREADS = 64 };

struct thread {
    pthread_t thread;
    const char *script;
    int number;
    int failed;
};

static int run_request(const struct thread *self) {
    volatile int failed = 1; /* zend_first_try is setjmp() */
    if (php_request_startup() != SUCCESS) {
        return failed;
    }
    char code[4096];
    snprintf(code, sizeof code, "$thread = %d; require '%s';", self->number, self->script);
    zend_first_try { failed = zend_eval_string_ex(code, NULL, "threads.c", true) != SUCCESS; }
    zend_end_try();
    php_request_shutdown(NULL);
    return failed;
}

static void *run_thread(void *context) {
    struct thread *self = context;
    (void)ts_resource(0);
    ZEND_TSRMLS_CACHE_UPDATE();
    for (int i = 0; i < REQUESTS; i++) {
        self->failed += run_request(self);
    }
    ts_free_thread();
    return NULL;
}

int main(int argc, char **argv) {
    const int count = argc == 3 ? atoi(argv[1]) : 0;
    if (count < 1 || count > MAX_THREADS) {
        fprintf(stderr, "usage: threads N SCRIPT, with N from 1 to %d\n", MAX_THREADS);
        return 2;
    }
    static struct thread threads[MAX_THREADS];
    int failed = 0;
    php_embed_init(argc, argv);
    for (int i = 0; i < count; i++) {
        threads[i].script = argv[2];
        threads[i].number = i;
        if (pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]) != 0) {
            fprintf(stderr, "threads: no thread %d\n", i);
            exit(2);
        }
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i].thread, NULL);
        failed += threads[i].failed;
    }
    php_embed_shutdown();
    printf("threads: %d, requests: %d, failed: %d\n", count, count * REQUESTS, failed);
    return failed != 0;
}
