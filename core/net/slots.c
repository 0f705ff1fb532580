#include "net.h"

/* Which node of a cluster has a key (redis.io: cluster specification, CLUSTER SLOTS). */

/* CRC-16/XMODEM: polynomial 0x1021, start value 0 (the specification's appendix A). */
static unsigned crc16(const unsigned char *bytes, size_t size) {
    unsigned crc = 0;
    for (size_t i = 0; i < size; i++) {
        crc ^= (unsigned)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
    }
    return crc & 0xffff;
}

int dueq__slot(dueq_bytes key) {
    const unsigned char *bytes = key.data;
    const unsigned char *open = key.size ? memchr(bytes, '{', key.size) : NULL;
    const unsigned char *tag = open ? open + 1 : NULL;
    const unsigned char *close = tag ? memchr(tag, '}', (size_t)(bytes + key.size - tag)) : NULL;
    unsigned crc =
        close && close > tag ? crc16(tag, (size_t)(close - tag)) : crc16(bytes, key.size);
    return (int)(crc % DUEQ__SLOTS);
}

/*
 * Copies the host that a node announces. An empty host means the host that was asked. False: the
 * node does not know the host, and announces "?"; or the host is too long, or has a NUL.
 */
static bool copy_host(char host[DUEQ__HOST_ROOM], dueq_bytes announced, const char *asked) {
    if (announced.size == 1 && *(const char *)announced.data == '?')
        return false;
    if (announced.size >= DUEQ__HOST_ROOM || strlen(asked) >= DUEQ__HOST_ROOM)
        return false;
    if (announced.size == 0)
        announced = dueq__text(asked);
    memcpy(host, announced.data, announced.size);
    host[announced.size] = '\0';
    return strlen(host) == announced.size;
}

static bool good_port(int64_t port) { return port > 0 && port <= 65535; }

static bool good_slot(int64_t slot) { return slot >= 0 && slot < DUEQ__SLOTS; }

/*
 * The host of a node in a map: its preferred endpoint, or, where that is "?", the IP address in the
 * node's metadata (Redis 7).
 */
static bool read_host(const struct dueq__reply *node, const char *asked,
                      char host[DUEQ__HOST_ROOM]) {
    const struct dueq__reply *name = dueq__reply_item(node, 0), *more = dueq__reply_item(node, 3);
    dueq_bytes announced = {0}, field;
    if (!dueq__reply_is_nil(name) && !dueq__reply_bytes(name, &announced))
        return false;
    for (size_t i = 0; dueq__bytes_equal(announced, dueq__text("?")) && i < dueq__reply_count(more);
         i += 2)
        if (dueq__reply_bytes(dueq__reply_item(more, i), &field) &&
            dueq__bytes_equal(field, dueq__text("ip")))
            dueq__reply_bytes(dueq__reply_item(more, i + 1), &announced);
    return copy_host(host, announced, asked);
}

size_t dueq__slots_read(const struct dueq__reply *reply, const char *asked,
                        void (*range)(void *owner, int first, int last,
                                      const struct dueq__address *primary),
                        void *owner) {
    size_t ranges = 0;
    for (size_t i = 0; i < dueq__reply_count(reply); i++) {
        const struct dueq__reply *item = dueq__reply_item(reply, i);
        const struct dueq__reply *node = dueq__reply_item(item, 2);
        int64_t first, last, port;
        char host[DUEQ__HOST_ROOM];
        if (!dueq__reply_number(dueq__reply_item(item, 0), &first) || !good_slot(first) ||
            !dueq__reply_number(dueq__reply_item(item, 1), &last) || !good_slot(last) ||
            last < first || !dueq__reply_number(dueq__reply_item(node, 1), &port) ||
            !good_port(port) || !read_host(node, asked, host))
            continue;
        range(owner, (int)first, (int)last, &(struct dueq__address){host, (int)port});
        ranges++;
    }
    return ranges;
}

bool dueq__redirect_read(const struct dueq__reply *reply, const char *asked,
                         struct dueq__redirect *redirect) {
    dueq_bytes text, kind, slot, endpoint;
    int64_t number, port;
    if (!dueq__reply_error_bytes(reply, &text) || !dueq__take_word(&text, ' ', &kind) ||
        !dueq__take_word(&text, ' ', &slot) || dueq__take_word(&text, ' ', &endpoint) ||
        !dueq__read_number(slot, 0, DUEQ__SLOTS - 1, &number))
        return false;
    redirect->ask = dueq__bytes_equal(kind, dueq__text("ASK"));
    if (!redirect->ask && !dueq__bytes_equal(kind, dueq__text("MOVED")))
        return false;
    /* Cuts at the last colon: an IPv6 address has colons itself, and comes without brackets. */
    if (!dueq__take_last_word(&endpoint, ':', &text) || !dueq__read_number(text, 1, 65535, &port))
        return false;
    redirect->slot = (int)number;
    redirect->port = (int)port;
    return copy_host(redirect->host, endpoint, asked);
}
