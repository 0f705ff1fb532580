#include <ctype.h>
#include <string.h>

#include "queue_row.h"

const char error_crashed[] = "its worker crashed: the lease ended";

/* Copies the first line of an error, with # for each number. */
static void copy_line(dueq_bytes error, char text[ERROR_CLASS_SIZE]) {
    const char *data = error.data;
    size_t size = 0;
    for (size_t i = 0; i < error.size && size + 5 < ERROR_CLASS_SIZE; i++) {
        if (!data[i] || data[i] == '\n' || data[i] == '\r')
            break;
        bool digit = isdigit((unsigned char)data[i]);
        if (digit && i && isdigit((unsigned char)data[i - 1]))
            continue;
        text[size++] = digit ? '#' : data[i];
    }
    /* Do not cut a UTF-8 character. */
    while (size + 5 >= ERROR_CLASS_SIZE && size && (text[size - 1] & 0x80))
        size--;
    text[size] = '\0';
}

bool error_class(const dueq_message *message, char text[ERROR_CLASS_SIZE]) {
    const bool crashed = !message->error.size && message->crashes;
    if (!message->error.size && !crashed && message->state != DUEQ_DEAD)
        return false;
    copy_line(message->error, text);
    if (!*text)
        strcpy(text, crashed ? error_crashed : "no error was given");
    return true;
}

static void add(struct queue_row *row, const dueq_message *message) {
    char text[ERROR_CLASS_SIZE];
    size_t at = 0;
    if (!error_class(message, text))
        return;
    while (at < row->group_count &&
           (row->groups[at].state != message->state || strcmp(row->groups[at].text, text) != 0))
        at++;
    if (at == ROW_ERROR_GROUPS)
        return;
    struct error_group *group = &row->groups[at];
    if (at == row->group_count) {
        *group = (struct error_group){.state = message->state};
        strcpy(group->text, text);
        row->group_count++;
    }
    group->count++;
    if (message->state == DUEQ_DEAD && message->time_ms > group->last_ms)
        group->last_ms = message->time_ms;
    for (; at && row->groups[at - 1].count < row->groups[at].count; at--) {
        struct error_group other = row->groups[at - 1];
        row->groups[at - 1] = row->groups[at];
        row->groups[at] = other;
    }
}

void error_groups_add_page(struct queue_row *row, const dueq_result *page) {
    for (size_t i = 0; i < dueq_result_count(page); i++)
        if (dueq_result_message(page, i))
            add(row, dueq_result_message(page, i));
}
