#include "json.h"

#include <stdlib.h>
#include <string.h>

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

json_object *json_raw(dueq_bytes json) {
    char *text = malloc(json.size + 1);
    if (!text)
        cli_out_of_memory();
    memcpy(text, json.data, json.size);
    text[json.size] = '\0';
    /* In a string of JSON these are escaped. */
    for (char *at = text; (at = strpbrk(at, "\r\n\t")) != NULL;)
        *at++ = ' ';
    json_object *object = json_object_new_object();
    json_object_set_serializer(object, json_object_userdata_to_json_string, text,
                               json_object_free_userdata);
    return object;
}

void json_add_bytes(json_object *object, const char *name, dueq_bytes bytes) {
    if (text_is_utf8(bytes)) {
        json_object_object_add(object, name, json_text(bytes));
        return;
    }
    char encoded_name[64];
    char *encoded = text_base64(bytes);
    if (!encoded)
        cli_out_of_memory();
    snprintf(encoded_name, sizeof encoded_name, "%s_base64", name);
    json_object_object_add(object, encoded_name, json_name(encoded));
    free(encoded);
}

const char *json_line_of(json_object *object) {
    return json_object_to_json_string_ext(object,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

void json_line(json_object *object) {
    cli_put_json(json_line_of(object));
    json_object_put(object);
}
