/*
 * Values as Kryo 5 writes them when Redisson's Kryo5Codec sets it up, without references: a byte
 * for the class, then the value. The layouts are those of com.esotericsoftware.kryo.io.Output, 5.4
 * to 5.6.
 */
#include <math.h>

#include "../json.h"
#include "codec.h"

enum { /* the number of a class that is registered, and so written without its name, plus 2 */
       KRYO_NULL = 0,
       KRYO_NAMED = 1,
       KRYO_INTEGER = 2,
       KRYO_STRING = 3,
       KRYO_FLOAT = 4,
       KRYO_BOOLEAN = 5,
       KRYO_BYTE = 6,
       KRYO_SHORT = 8,
       KRYO_LONG = 9,
       KRYO_DOUBLE = 10
};

/* byte[]: a class with a name, which is the first name in this value (0), the string "[B". */
static const unsigned char byte_array[] = {KRYO_NAMED, 0, '[', 'B' | 0x80};

/* Writing */

/*
 * Adds seven bits in each byte, the lowest bits first; the high bit says that a byte follows. If
 * there are `most` bytes, the last one has eight bits of the number.
 */
static void add_varint(struct dueq__strbuf *out, uint64_t number, int most) {
    int count = 1;
    for (; number > 0x7F && count < most; count++, number >>= 7)
        dueq__strbuf_byte(out, (int)(number & 0x7F) | 0x80);
    dueq__strbuf_byte(out, (int)number);
}

/* Maps 0, -1, 1, -2 ... to 0, 1, 2, 3 ... */
static uint64_t zigzag(int64_t number) { return (uint64_t)number << 1 ^ (number < 0 ? ~0ULL : 0); }

static void add_little_endian(struct dueq__strbuf *out, uint64_t number, int size) {
    for (int i = 0; i < size; i++)
        dueq__strbuf_byte(out, (int)(number >> 8 * i & 0xFF));
}

/*
 * As add_varint(), but the first byte has a mark in its high bit, and only six bits of the number.
 */
static void add_length(struct dueq__strbuf *out, uint64_t number) {
    bool more = number > 0x3F;
    dueq__strbuf_byte(out, (int)(number & 0x3F) | 0x80 | (more ? 0x40 : 0));
    if (more)
        add_varint(out, number >> 6, 5);
}

/* Adds a UTF-16 unit above U+07FF, such as half a surrogate pair, in three bytes. */
static void add_unit(struct dueq__strbuf *out, uint32_t unit) {
    dueq__strbuf_byte(out, 0xE0 | (int)(unit >> 12));
    dueq__strbuf_byte(out, 0x80 | (int)(unit >> 6 & 0x3F));
    dueq__strbuf_byte(out, 0x80 | (int)(unit & 0x3F));
}

/* The character that four bytes of UTF-8 encode. */
static uint32_t character_of(const unsigned char *at) {
    return (uint32_t)(at[0] & 0x07) << 18 | (uint32_t)(at[1] & 0x3F) << 12 |
           (uint32_t)(at[2] & 0x3F) << 6 | (at[3] & 0x3F);
}

static void write_string(struct dueq__strbuf *out, dueq_bytes utf8) {
    const unsigned char *at = utf8.data;
    size_t units = 0;
    bool ascii = true;
    for (size_t i = 0; i < utf8.size; i++) {
        units += (at[i] & 0xC0) != 0x80 ? at[i] >= 0xF0 ? 2 : 1 : 0;
        ascii &= at[i] < 0x80;
    }
    if (ascii && units >= 2 && units <= 32) {
        dueq__strbuf_bytes(out, (dueq_bytes){at, units - 1});
        dueq__strbuf_byte(out, at[units - 1] | 0x80);
        return;
    }
    add_length(out, units + 1);
    for (size_t begin = 0, i = 0; i <= utf8.size; i++) {
        if (i < utf8.size && at[i] < 0xF0)
            continue;
        if (i > begin)
            dueq__strbuf_bytes(out, (dueq_bytes){at + begin, i - begin});
        if (i == utf8.size)
            return;
        uint32_t above = character_of(at + i) - 0x10000;
        add_unit(out, 0xD800 | above >> 10);
        add_unit(out, 0xDC00 | (above & 0x3FF));
        begin = i + 4;
        i += 3;
    }
}

dueq_status dueq__kryo_write(const dueq_value *value, struct dueq__strbuf *out,
                             struct dueq__error *error) {
    double number = isnan(value->number) ? (double)NAN : value->number;
    uint64_t bits;
    switch (value->kind) {
    case DUEQ_NULL:
        dueq__strbuf_byte(out, KRYO_NULL);
        break;
    case DUEQ_BOOLEAN:
        dueq__strbuf_byte(out, KRYO_BOOLEAN);
        dueq__strbuf_byte(out, (int)value->integer);
        break;
    case DUEQ_INTEGER:
        dueq__strbuf_byte(out, KRYO_INTEGER);
        add_varint(out, zigzag(value->integer), 5);
        break;
    case DUEQ_LONG:
        dueq__strbuf_byte(out, KRYO_LONG);
        add_varint(out, zigzag(value->integer), 9);
        break;
    case DUEQ_DOUBLE:
        dueq__strbuf_byte(out, KRYO_DOUBLE);
        memcpy(&bits, &number, sizeof bits);
        add_little_endian(out, bits, 8);
        break;
    case DUEQ_STRING:
        dueq__strbuf_byte(out, KRYO_STRING);
        write_string(out, value->bytes);
        break;
    case DUEQ_BINARY:
        dueq__strbuf_bytes(out, (dueq_bytes){byte_array, sizeof byte_array});
        add_varint(out, value->bytes.size + 1, 5);
        dueq__strbuf_bytes(out, value->bytes);
        break;
    default:
        return dueq__fail(
            error, DUEQ_INVALID,
            "Kryo5 has no form for JSON, only for objects of Java's classes: offer the "
            "text as a string, or use a JSON codec on both sides");
    }
    return DUEQ_OK;
}

/* Reading */

struct reader {
    const unsigned char *at, *end;
    bool half; /* half a surrogate pair was left out */
};

static size_t left(const struct reader *reader) { return (size_t)(reader->end - reader->at); }

/* Takes a varint, from bit `shift` on. False: it does not end, or has more than `bits` bits. */
static bool take_bits(struct reader *reader, uint64_t *number, int shift, int bits) {
    for (; left(reader) > 0; shift += 7) {
        uint64_t byte = *reader->at++;
        bool last = bits == 64 && shift == 56; /* the ninth byte, which has eight bits */
        uint64_t part = last ? byte : byte & 0x7F;
        if (shift >= bits || (bits - shift < 8 && part >> (bits - shift)))
            return false;
        *number |= part << shift;
        if (last || byte < 0x80)
            return true;
    }
    return false;
}

static bool take_varint(struct reader *reader, uint64_t *number, int bits) {
    *number = 0;
    return take_bits(reader, number, 0, bits);
}

static bool take_zigzag(struct reader *reader, int64_t *number, int bits) {
    uint64_t zigzagged;
    if (!take_varint(reader, &zigzagged, bits))
        return false;
    *number = (int64_t)(zigzagged >> 1 ^ (zigzagged & 1 ? ~0ULL : 0));
    return true;
}

static bool take_little_endian(struct reader *reader, uint64_t *number, int size) {
    *number = 0;
    if (left(reader) < (size_t)size)
        return false;
    for (int i = 0; i < size; i++)
        *number |= (uint64_t)*reader->at++ << 8 * i;
    return true;
}

/* Takes a UTF-16 unit of one to three bytes. False: there is none. */
static bool take_unit(struct reader *reader, uint32_t *unit) {
    if (left(reader) == 0)
        return false;
    unsigned first = *reader->at++;
    if (first < 0x80) {
        *unit = first;
        return true;
    }
    size_t more = first >= 0xC0 && first < 0xE0 ? 1 : first >= 0xE0 && first < 0xF0 ? 2 : 0;
    if (more == 0 || left(reader) < more)
        return false;
    *unit = first & (more == 1 ? 0x1FU : 0x0FU);
    for (size_t i = 0; i < more; i++) {
        unsigned byte = *reader->at++;
        if ((byte & 0xC0) != 0x80)
            return false;
        *unit = *unit << 6 | (byte & 0x3F);
    }
    return *unit >= (more == 1 ? 0x80U : 0x800U);
}

/* Takes `units` UTF-16 units as UTF-8, and leaves out each half of a surrogate pair. */
static bool take_units(struct reader *reader, uint64_t units, struct dueq__strbuf *room) {
    while (units-- > 0) {
        const unsigned char *begin = reader->at;
        uint32_t unit, low = 0;
        if (!take_unit(reader, &unit))
            return false;
        if ((unit & 0xF800) != 0xD800) {
            dueq__strbuf_bytes(room, (dueq_bytes){begin, (size_t)(reader->at - begin)});
            continue;
        }
        const unsigned char *behind = reader->at;
        if (unit < 0xDC00 && units > 0 && !take_unit(reader, &low))
            return false;
        if ((low & 0xFC00) != 0xDC00) {
            reader->at = behind;
            reader->half = true;
            continue;
        }
        units--;
        uint32_t character = 0x10000 + ((unit & 0x3FF) << 10 | (low & 0x3FF));
        dueq__strbuf_byte(room, 0xF0 | (int)(character >> 18));
        for (int shift = 12; shift >= 0; shift -= 6)
            dueq__strbuf_byte(room, 0x80 | (int)(character >> shift & 0x3F));
    }
    return true;
}

/* Takes a string. *null: Java's null is in its place. */
static bool take_string(struct reader *reader, struct dueq__strbuf *room, bool *null) {
    *null = false;
    if (left(reader) == 0)
        return false;
    if (*reader->at < 0x80) {
        while (left(reader) > 0) {
            unsigned byte = *reader->at++;
            dueq__strbuf_byte(room, byte & 0x7F);
            if (byte >= 0x80)
                return true;
        }
        return false;
    }
    unsigned first = *reader->at++;
    uint64_t length = first & 0x3F;
    if (first & 0x40 && !take_bits(reader, &length, 6, 32))
        return false;
    *null = length == 0;
    return *null || take_units(reader, length - 1, room);
}

/* Reads a value whose class has a name. Only byte[] can be read. */
static dueq_status read_named(struct reader *reader, dueq_value *value, struct dueq__strbuf *room,
                              struct dueq__error *error) {
    uint64_t number, size;
    bool null;
    if (!take_varint(reader, &number, 32) || number != 0 || !take_string(reader, room, &null))
        return dueq__fail(error, DUEQ_CORRUPT, "no value of Kryo5: its class has no name");
    if (room->size != 2 || memcmp(room->data, "[B", 2) != 0)
        return dueq__fail(
            error, DUEQ_CORRUPT,
            "an object of the Java class '%s', which only Java can read: offer strings "
            "there, or use the string or a JSON codec on both sides",
            dueq__strbuf_shown((dueq_bytes){room->data, room->size}).text);
    value->kind = DUEQ_BINARY;
    if (!take_varint(reader, &size, 32) || size == 0 || size - 1 > left(reader))
        return dueq__fail(error, DUEQ_CORRUPT, "no value of Kryo5: its bytes are cut off");
    value->bytes = (dueq_bytes){reader->at, (size_t)size - 1};
    reader->at += value->bytes.size;
    return DUEQ_OK;
}

static bool take_signed(struct reader *reader, int64_t *number, int size) {
    uint64_t bits;
    if (!take_little_endian(reader, &bits, size))
        return false;
    int unused = 64 - 8 * size;
    *number = (int64_t)(bits << unused) >> unused;
    return true;
}

static bool take_float(struct reader *reader, double *number) {
    uint64_t bits;
    if (!take_little_endian(reader, &bits, 4))
        return false;
    uint32_t half = (uint32_t)bits;
    float narrow;
    memcpy(&narrow, &half, sizeof narrow);
    *number = (double)narrow;
    return true;
}

static bool take_double(struct reader *reader, double *number) {
    uint64_t bits;
    if (!take_little_endian(reader, &bits, 8))
        return false;
    memcpy(number, &bits, sizeof *number);
    return true;
}

/* Reads a value whose class has a number. False: no class has it, or the value is cut off. */
static bool read_numbered(struct reader *reader, unsigned number, dueq_value *value,
                          struct dueq__strbuf *room) {
    bool null;
    switch (number) {
    case KRYO_NULL:
        return true;
    case KRYO_BOOLEAN:
        value->kind = DUEQ_BOOLEAN;
        return take_signed(reader, &value->integer, 1) && (uint64_t)value->integer <= 1;
    case KRYO_BYTE:
    case KRYO_SHORT:
        value->kind = DUEQ_INTEGER;
        return take_signed(reader, &value->integer, number == KRYO_BYTE ? 1 : 2);
    case KRYO_INTEGER:
        value->kind = DUEQ_INTEGER;
        return take_zigzag(reader, &value->integer, 32);
    case KRYO_LONG:
        value->kind = DUEQ_LONG;
        return take_zigzag(reader, &value->integer, 64);
    case KRYO_FLOAT:
        value->kind = DUEQ_DOUBLE;
        return take_float(reader, &value->number);
    case KRYO_DOUBLE:
        value->kind = DUEQ_DOUBLE;
        return take_double(reader, &value->number);
    case KRYO_STRING:
        if (!take_string(reader, room, &null))
            return false;
        value->kind = null ? DUEQ_NULL : DUEQ_STRING;
        return true;
    default:
        return false;
    }
}

dueq_status dueq__kryo_read(dueq_bytes bytes, dueq_value *value, struct dueq__strbuf *room,
                            struct dueq__error *error) {
    const unsigned char *begin = bytes.data;
    if (bytes.size == 0)
        return dueq__fail(error, DUEQ_CORRUPT, "no value of Kryo5: there are no bytes");
    struct reader reader = {.at = begin + 1, .end = begin + bytes.size};
    if (*begin == KRYO_NAMED) {
        dueq_status status = read_named(&reader, value, room, error);
        if (status)
            return status;
    } else if (!read_numbered(&reader, *begin, value, room)) {
        return dueq__fail(error, DUEQ_CORRUPT,
                          "no plain value of Kryo5 (its first byte is 0x%02X): was it written by "
                          "another codec?",
                          *begin);
    }
    if (value->kind == DUEQ_STRING)
        value->bytes = (dueq_bytes){room->data, room->size};
    if (left(&reader) > 0)
        return dueq__fail(
            error, DUEQ_CORRUPT,
            "no value of Kryo5: %zu bytes follow it; was it written by another codec?",
            left(&reader));
    if (reader.half)
        return dueq__fail(error, DUEQ_CORRUPT, "a value of Kryo5, but " DUEQ__JSON_HALF_PAIR);
    return DUEQ_OK;
}
