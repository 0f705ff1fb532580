#include "json.h"

#include <stdlib.h>

#include "cli.h"

json_object *json_text(dueq_bytes bytes) {
    size_t size = 0;
    char *text = text_repair(bytes, &size);
    if (!text || size > INT32_MAX)
        cli_out_of_memory();
    json_object *object = json_object_new_string_len(text, (int)size);
    free(text);
    return object;
}

json_object *json_name(const char *text) { return json_object_new_string(text); }

json_object *json_time(int64_t ms) { return ms ? json_object_new_int64(ms) : NULL; }

void json_add_body(json_object *object, dueq_bytes body) {
    if (text_is_utf8(body)) {
        json_object_object_add(object, "body", json_text(body));
        return;
    }
    char *encoded = text_base64(body);
    if (!encoded)
        cli_out_of_memory();
    json_object_object_add(object, "body_base64", json_name(encoded));
    free(encoded);
}

void json_line(json_object *object) {
    fputs(json_object_to_json_string_ext(object,
                                         JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
          stdout);
    putchar('\n');
    json_object_put(object);
}
