#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "net.h"

/*
 * Writes each word of a command as a bulk string: "$SIZE\r\n", the word's bytes and "\r\n" (RESP2,
 * the protocol specification of Redis). The command is an array of its words. dueq__conn_send()
 * writes the array's head, which has the number of words.
 */

#define FRAME_SIZE 32 /* the most that a word needs besides its bytes */

void dueq__resp_free(struct dueq__resp *words) {
    free(words->bytes);
    *words = (struct dueq__resp){0};
}

size_t dueq__resp_digits(char out[DUEQ__DIGITS], uint64_t number) {
    char turned[DUEQ__DIGITS];
    size_t count = 0;
    do
        turned[count++] = (char)('0' + number % 10);
    while (number /= 10);
    for (size_t i = 0; i < count; i++)
        out[i] = turned[count - 1 - i];
    return count;
}

/* Makes room for a word of `size` bytes. False: out of memory, now or before. */
static bool make_room(struct dueq__resp *words, size_t size) {
    size_t wanted = words->size + size + FRAME_SIZE;
    if (words->failed || wanted <= words->room)
        return !words->failed;
    size_t room = words->room ? words->room : 512;
    while (room < wanted)
        room *= 2;
    char *wider = realloc(words->bytes, room);
    words->failed = !wider;
    if (!wider)
        return false;
    words->bytes = wider;
    words->room = room;
    return true;
}

void *dueq__resp_space(struct dueq__resp *words, size_t size) {
    if (!make_room(words, size))
        return NULL;
    char *at = words->bytes + words->size;
    *at++ = '$';
    at += dueq__resp_digits(at, size);
    memcpy(at, "\r\n", 2);
    char *space = at + 2;
    memcpy(space + size, "\r\n", 2);
    words->size = (size_t)(space + size + 2 - words->bytes);
    words->count++;
    return space;
}

void dueq__resp_bytes(struct dueq__resp *words, const void *data, size_t size) {
    void *space = dueq__resp_space(words, size);
    if (space && size)
        memcpy(space, data, size);
}

void dueq__resp_text(struct dueq__resp *words, const char *text) {
    dueq__resp_bytes(words, text, strlen(text));
}

void dueq__resp_number(struct dueq__resp *words, int64_t number) {
    char text[DUEQ__DIGITS + 1];
    size_t sign = number < 0;
    uint64_t positive = sign ? 0 - (uint64_t)number : (uint64_t)number;
    text[0] = '-';
    dueq__resp_bytes(words, text, sign + dueq__resp_digits(text + sign, positive));
}

void dueq__resp_texts(struct dueq__resp *words, const char *const texts[]) {
    *words = (struct dueq__resp){0};
    for (; *texts; texts++)
        dueq__resp_text(words, *texts);
}
