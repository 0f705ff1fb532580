#include <stdlib.h>

#include "../foreign.h"
#include "redisson.h"

static const struct dueq__foreign_key keys[] = {
    {DUEQ__REDISSON_DESTINATION, "", "", false},
    {DUEQ__REDISSON_OFFERED, "redisson_delay_queue:", "", true},
    {DUEQ__REDISSON_TIMEOUT, "redisson_delay_queue_timeout:", "", true},
    {DUEQ__REDISSON_CHANNEL, "redisson_delay_queue_channel:", "", true},
    {DUEQ__REDISSON_PARKED, "dueq:", ":parked", true},
    {DUEQ__REDISSON_QUARANTINE, "dueq:", ":quarantine", true},
};

dueq_status dueq_redisson_open(dueq_client *client, const void *destination, size_t size,
                               dueq_codec codec, dueq_layout layout, dueq_redisson **queue) {
    dueq_bytes list = {destination, size};
    *queue = NULL;
    if (size > DUEQ_MAX_NAME)
        return dueq__fail(&client->error, DUEQ_NAME,
                          "the destination's name has %zu bytes; at most %d are allowed", size,
                          DUEQ_MAX_NAME);
    if (codec < DUEQ_CODEC_KRYO5 || codec > DUEQ_CODEC_TYPED_JSON3)
        return dueq__fail(&client->error, DUEQ_INVALID, "%d is not a codec", (int)codec);
    if (layout < DUEQ_LAYOUT_FOUND || layout > DUEQ_LAYOUT_OLD)
        return dueq__fail(&client->error, DUEQ_INVALID, "%d is not a layout", (int)layout);
    dueq_redisson *opened = calloc(1, sizeof *opened);
    if (!opened)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    dueq_status status =
        dueq__foreign_open(&opened->queue, client, list, keys, sizeof keys / sizeof *keys);
    if (status) {
        free(opened);
        return status;
    }
    opened->codec = codec;
    opened->layout = layout;
    opened->serial = ++client->last_request_number;
    *queue = opened;
    return DUEQ_OK;
}

void dueq_redisson_close(dueq_redisson *queue) {
    if (!queue)
        return;
    dueq__foreign_close(&queue->queue);
    free(queue);
}

/* size, clear */

dueq_status dueq_redisson_size_submit(dueq_redisson *queue) {
    return dueq__foreign_size_submit(&queue->queue, &dueq__script_redisson_size);
}

dueq_status dueq_redisson_size(dueq_redisson *queue, dueq_sizes *sizes) {
    return dueq__foreign_sized(&queue->queue, dueq_redisson_size_submit(queue), sizes);
}

dueq_status dueq_redisson_clear_submit(dueq_redisson *queue) {
    return dueq__foreign_clear_submit(&queue->queue, &dueq__script_redisson_clear);
}

dueq_status dueq_redisson_clear(dueq_redisson *queue, size_t *cleared) {
    return dueq__foreign_cleared(&queue->queue, dueq_redisson_clear_submit(queue), cleared);
}
