#include "link.h"

/* A program may change its environment before another client of the same server is opened. */
static zend_string *address_of(const zend_string *url) {
    const char *set = url ? ZSTR_VAL(url) : getenv("DUEQ_URL");

    return set && (url || *set) ? zend_string_init(set, strlen(set), false) : NULL;
}

dueq_php_client *dueq_php_client_open(const zend_string *url) {
    dueq_php_client *client;
    dueq_status status;

    if (url && zend_str_has_nul_byte(url)) {
        dueq_php_throw(DUEQ_URL, "the URL has a NUL byte in it");
        return NULL;
    }
    client = ecalloc(1, sizeof *client);
    client->holders = 1;
    client->url = address_of(url);
    status = dueq_open(client->url ? ZSTR_VAL(client->url) : NULL, &client->client);
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
    while (client->spare) {
        dueq_php_link *link = client->spare;

        client->spare = link->next;
        dueq_php_link_close(link);
    }
    dueq_result_free(client->result);
    dueq_queue_close(client->target);
    dueq_close(client->client);
    if (client->url) {
        zend_string_release(client->url);
    }
    efree(client);
}

void dueq_php_client_forget(dueq_php_client *client) {
    dueq_result_free(client->result);
    client->result = NULL;
}
