/* Runs the situations of this folder (README.md has their format) on the C API. */
#include "run.h"

#include <dirent.h>

static const char *folder;
static struct server server;

static int begin(void **state) {
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    run->situation = *state;
    run->folder = folder;
    run->client = open_client(server.url);
    run->redis = redisConnectUnix(server.socket);
    assert_true(run->redis && !run->redis->err);
    run->name = BYTES(run->situation->test);
    assert_int_equal(open_named(run, run->name, &run->queue), DUEQ_OK);
    *state = run;
    return 0;
}

static int end(void **state) {
    struct run *run = *state;
    for (struct opened *opened = run->opened; opened; opened = opened->next)
        dueq_queue_close(opened->queue);
    dueq_redisson_close(run->redisson);
    dueq_laravel_close(run->laravel);
    dueq_close(run->client);
    redisFree(run->redis);
    while (run->kept) {
        struct kept *next = run->kept->next;
        free(run->kept);
        run->kept = next;
    }
    free(run);
    return 0;
}

static void run_situation(void **state) {
    struct run *run = *state;
    json_object *steps = run->situation->steps;
    for (run->step = 1; run->step <= json_object_array_length(steps); run->step++)
        do_step(run, json_object_array_get_idx(steps, run->step - 1));
    run->verb = "check";
    dueq_bytes damaged = BYTES(run->situation->damaged ? "1" : "0");
    redisReply *complaints = script(run, "check", &damaged, 1);
    if (complaints->elements)
        wrong(run, "%s", reply_text(run, complaints));
    freeReplyObject(complaints);
}

static size_t add(struct situation *situations, size_t count, json_object *json) {
    json_object *each = field(json, "each");
    const char *name = word(json, "name");
    size_t times = each ? json_object_array_length(each) : 1;
    for (size_t i = 0; i < times; i++) {
        struct situation *next = &situations[count++];
        next->steps = field(json, "steps");
        next->damaged = json_object_get_boolean(field(json, "damaged"));
        next->each = each ? json_object_array_get_idx(each, i) : NULL;
        size_t size = strlen(name) + 32;
        next->test = malloc(size);
        assert_non_null(next->test);
        if (each)
            snprintf(next->test, size, "test_%s_%zu", name, i + 1);
        else
            snprintf(next->test, size, "test_%s", name);
    }
    return count;
}

enum { MOST_FILES = 64, MOST_SITUATIONS = 2000 };

int main(int argc, char **argv) {
    static struct situation situations[MOST_SITUATIONS];
    static struct CMUnitTest tests[MOST_SITUATIONS];
    json_object *files[MOST_FILES];
    struct dirent **names;
    size_t file_count = 0, count = 0;
    folder = argc > 1 ? argv[1] : ".";
    int found = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < found; i++) {
        const char *dot = strrchr(names[i]->d_name, '.');
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (dot && !strcmp(dot, ".json") && file_count < MOST_FILES) {
            json_object *file = files[file_count++] = json_object_from_file(path);
            if (!file) {
                print_error("%s\n", json_util_get_last_err());
                return 2;
            }
            for (size_t k = 0; k < json_object_array_length(file); k++)
                count = add(situations, count, json_object_array_get_idx(file, k));
        }
        free(names[i]);
    }
    if (found >= 0)
        free(names);
    if (count == 0) {
        print_error("no situations in %s\n", folder);
        return 2;
    }
    for (size_t i = 0; i < count; i++)
        tests[i] =
            (struct CMUnitTest){situations[i].test, run_situation, begin, end, &situations[i]};
    server_start(&server);
    int failed = _cmocka_run_group_tests("contract", tests, count, NULL, NULL);
    server_stop(&server);
    for (size_t i = 0; i < file_count; i++)
        json_object_put(files[i]);
    for (size_t i = 0; i < count; i++)
        free(situations[i].test);
    return failed;
}
