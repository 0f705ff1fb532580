#include "json.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"

json_object *json_made(json_object *object) {
    if (!object)
        cli_out_of_memory();
    return object;
}

void json_added(int result) {
    if (result != 0)
        cli_out_of_memory();
}

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
    /*
     * JSON strings have these characters in escaped form. So each one here is a blank between
     * tokens.
     */
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

void json_write_part(FILE *out, dueq_bytes text) {
    static const char marks[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    const char *data = text.data;
    for (size_t at = 0, size; at < text.size; at += size) {
        const char *mark;
        for (size = 0; at + size < text.size; size++) {
            const unsigned char byte = (unsigned char)data[at + size];
            if (byte < 0x20 || byte == '"' || byte == '\\')
                break;
        }
        if (size > 0)
            fwrite(data + at, 1, size, out);
        else if (size++, data[at] && (mark = strchr(marks, data[at])) != NULL)
            fprintf(out, "\\%c", names[mark - marks]);
        else
            fprintf(out, "\\u%04x", (unsigned char)data[at]);
    }
}

static void write_text(FILE *out, const char *text, size_t size) {
    fputc('"', out);
    json_write_part(out, (dueq_bytes){text, size});
    fputc('"', out);
}

void json_write(FILE *out, json_object *object) {
    const char *text, *before = "";
    switch (json_object_get_type(object)) {
    case json_type_string:
        write_text(out, json_object_get_string(object), (size_t)json_object_get_string_len(object));
        return;
    case json_type_array:
        fputc('[', out);
        for (size_t i = 0; i < json_object_array_length(object); i++, before = ",") {
            fputs(before, out);
            json_write(out, json_object_array_get_idx(object, i));
        }
        fputc(']', out);
        return;
    case json_type_object:
        if (json_object_object_length(object) == 0)
            break;
        fputc('{', out);
        json_object_object_foreach(object, name, value) {
            fputs(before, out);
            write_text(out, name, strlen(name));
            fputc(':', out);
            json_write(out, value);
            before = ",";
        }
        fputc('}', out);
        return;
    default:
        break;
    }
    /* A number, null, or what json_raw() made. */
    text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
    if (!text)
        cli_out_of_memory();
    fputs(text, out);
}

char *json_line_of(json_object *object) {
    struct buffer buffer;
    FILE *out = buffer_open(&buffer);
    if (!out)
        cli_out_of_memory();
    json_write(out, object);
    if (!buffer_close(&buffer, out))
        cli_out_of_memory();
    return buffer.data;
}

void json_line(json_object *object) {
    cli_put_json(object);
    json_object_put(object);
}
