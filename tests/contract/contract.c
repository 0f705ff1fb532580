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
    const char *url = getenv("DUEQ_CONTRACT_URL");
    run->client = open_client(url ? url : server.url);
    run->redis = redisConnectUnix(server.socket);
    assert_true(run->redis && !run->redis->err);
    run->name = BYTES(run->situation->test);
    assert_int_equal(open_named(run, run->name, 0, &run->queue), DUEQ_OK);
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
    run->verb = "consistent";
    dueq_bytes damaged = BYTES(run->situation->damaged ? "1" : "0");
    redisReply *complaints = script(run, "consistent", &damaged, 1);
    if (complaints->elements)
        wrong(run, "%s", reply_text(run, complaints));
    freeReplyObject(complaints);
}

/* The steps, with those of a way's parts in the places for them. */
static json_object *steps_by(json_object *json, json_object *way) {
    json_object *from = field(json, "steps"), *steps = json_object_new_array();
    for (size_t i = 0; i < json_object_array_length(from); i++) {
        json_object *step = json_object_array_get_idx(from, i);
        if (strcmp(word(step, "do"), "way") != 0) {
            json_object_array_add(steps, json_object_get(step));
            continue;
        }
        json_object *part = json_object_array_get_idx(way, (size_t)number(step, "part", 0));
        for (size_t k = 0; part && k < json_object_array_length(part); k++)
            json_object_array_add(steps, json_object_get(json_object_array_get_idx(part, k)));
    }
    return steps;
}

/* Once for each text, by this way. */
static size_t add_way(struct situation *situations, size_t count, json_object *json,
                      const char *way_name, json_object *way) {
    json_object *each = field(json, "each");
    size_t times = each ? json_object_array_length(each) : 1;
    for (size_t i = 0; i < times; i++) {
        struct situation *next = &situations[count++];
        next->steps = steps_by(json, way);
        next->damaged = json_object_get_boolean(field(json, "damaged"));
        next->each = each ? json_object_array_get_idx(each, i) : NULL;
        char name[256], number[24] = "";
        if (each)
            snprintf(number, sizeof number, "_%zu", i + 1);
        snprintf(name, sizeof name, "test_%s%s%s%s", word(json, "name"), way ? "_" : "", way_name,
                 number);
        next->test = strdup(name);
        assert_non_null(next->test);
    }
    return count;
}

static size_t add(struct situation *situations, size_t count, json_object *json) {
    json_object *ways = field(json, "ways");
    if (!ways)
        return add_way(situations, count, json, "", NULL);
    json_object_object_foreach(ways, name, way) {
        count = add_way(situations, count, json, name, way);
    }
    return count;
}

/* Is it one of $DUEQ_CONTRACT_ONLY, names with a space behind each? Without that: each is. */
static bool chosen(const char *name) {
    const char *only = getenv("DUEQ_CONTRACT_ONLY");
    size_t size = strlen(name);
    for (const char *at = only; at && (at = strstr(at, name)); at += size)
        if (at[size] == ' ' && (at == only || at[-1] == ' '))
            return true;
    return !only;
}

enum { MOST_FILES = 64, MOST_SITUATIONS = 4000 };

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
    size_t chosen_count = 0;
    for (size_t i = 0; i < count; i++)
        if (chosen(situations[i].test))
            tests[chosen_count++] =
                (struct CMUnitTest){situations[i].test, run_situation, begin, end, &situations[i]};
    server_start(&server);
    int failed = _cmocka_run_group_tests("contract", tests, chosen_count, NULL, NULL);
    server_stop(&server);
    for (size_t i = 0; i < file_count; i++)
        json_object_put(files[i]);
    for (size_t i = 0; i < count; i++) {
        json_object_put(situations[i].steps);
        free(situations[i].test);
    }
    return failed;
}
