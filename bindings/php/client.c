#include "php_dueq.h"

dueq_php_client *dueq_php_client_open(const zend_string *url) {
    dueq_php_client *client;
    dueq_status status;

    if (url && zend_str_has_nul_byte(url)) {
        dueq_php_throw(DUEQ_URL, "the URL has a NUL byte in it");
        return NULL;
    }
    client = ecalloc(1, sizeof *client);
    client->holders = 1;
    status = dueq_open(url ? ZSTR_VAL(url) : NULL, &client->client);
    if (status != DUEQ_OK) {
        dueq_php_throw(status, client->client ? dueq_error_text(client->client) : NULL);
        dueq_php_client_release(client);
        return NULL;
    }
    return client;
}

void dueq_php_client_release(dueq_php_client *client) {
    if (!client || --client->holders) {
        return;
    }
    dueq_result_free(client->result);
    dueq_queue_close(client->target);
    dueq_close(client->client);
    efree(client);
}

void dueq_php_client_forget(dueq_php_client *client) {
    dueq_result_free(client->result);
    client->result = NULL;
}
