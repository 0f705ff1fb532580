/*
 * The flat private module dueq._core: dueq.h, dueq_redisson.h and dueq_laravel.h without blocking calls.
 * The classes are in bindings/python/dueq. This file says what is wrapped; each of the files below has rules for one thing.
 */
%module(package="dueq") _core

%{
#include <stdlib.h>
#include <string.h>

#include "dueq_laravel.h"
#include "dueq_redisson.h"
%}

%include <stdint.i>
%include "status.i"  /* a failing status becomes an exception */
%include "bytes.i"   /* bytes, buffers and text in, for the time of the call */
%include "link.i"    /* a client and its queues, the handles of every call */
%include "draft.i"   /* messages in */
%include "redisson.i" /* values in and out */
%include "laravel.i" /* jobs in and out */
%include "result.i"  /* outcomes, messages, counts and rates out */
%include "consumer.i" /* the loop with a heartbeat */
%include "pusher.i"  /* pushes in flight, each with an object of its own */
%include "wait.i"    /* the one call without the GIL */

%rename("$ignore", %$isfunction) "";
%rename("$ignore", %$isclass) "";
%rename("$ignore", %$isvariable) "";
%rename("%(strip:[DUEQ_])s", %$isenumitem) "";
%rename("%(strip:[DUEQ_])s", %$isconstant) "";

%rename(client_open) client_open;
%rename(client_url) dueq_client_url;
%rename(queue_open) queue_open;
%rename(new_id) dueq_new_id;
%rename(warning) dueq_warning;

%rename(push_submit) dueq_push_submit;
%rename(reserve_submit) dueq_reserve_submit;
%rename(reserve_any_submit) dueq_reserve_any_submit;
%rename(ack_submit) dueq_ack_submit;
%rename(ack_push_submit) dueq_ack_push_submit;
%rename(retry_submit) dueq_retry_submit;
%rename(release_submit) dueq_release_submit;
%rename(extend_submit) dueq_extend_submit;
%rename(bury_submit) dueq_bury_submit;
%rename(cancel_submit) dueq_cancel_submit;
%rename(find_submit) dueq_find_submit;
%rename(kick_submit) dueq_kick_submit;
%rename(kick_all_submit) dueq_kick_all_submit;
%rename(reschedule_submit) dueq_reschedule_submit;
%rename(pause_submit) dueq_pause_submit;
%rename(resume_submit) dueq_resume_submit;
%rename(purge_submit) dueq_purge_submit;
%rename(remove_submit) dueq_remove_submit;
%rename(check_submit) dueq_check_submit;
%rename(stats_submit) dueq_stats_submit;
%rename(peek_submit) dueq_peek_submit;
%rename(rates_submit) dueq_rates_submit;
%rename(queues_submit) dueq_queues_submit;
%rename(lock_submit) dueq_lock_submit;
%rename(relock_submit) dueq_relock_submit;
%rename(unlock_submit) dueq_unlock_submit;

%rename(redisson_open) redisson_open;
%rename(redisson_offer_submit) dueq_redisson_offer_submit;
%rename(redisson_transfer_submit) dueq_redisson_transfer_submit;
%rename(redisson_size_submit) dueq_redisson_size_submit;
%rename(redisson_take_submit) dueq_redisson_take_submit;
%rename(redisson_poll_submit) dueq_redisson_poll_submit;
%rename(redisson_peek_submit) dueq_redisson_peek_submit;
%rename(redisson_remove_submit) dueq_redisson_remove_submit;
%rename(redisson_contains_submit) dueq_redisson_contains_submit;
%rename(redisson_clear_submit) dueq_redisson_clear_submit;
%rename(codec_decode) dueq_codec_decode;

%rename(laravel_open) laravel_open;
%rename(laravel_push_submit) dueq_laravel_push_submit;
%rename(laravel_pop_submit) dueq_laravel_pop_submit;
%rename(laravel_delete_submit) dueq_laravel_delete_submit;
%rename(laravel_release_submit) dueq_laravel_release_submit;
%rename(laravel_size_submit) dueq_laravel_size_submit;
%rename(laravel_clear_submit) dueq_laravel_clear_submit;
%rename(laravel_migrate_submit) dueq_laravel_migrate_submit;

%rename(consumer_open) consumer_open;
%rename(consumer_next) consumer_next;
%rename(consumer_take) consumer_take;
%rename(consumer_queue) consumer_queue;
%rename(consumer_ack) consumer_ack;
%rename(consumer_retry) consumer_retry;
%rename(consumer_forget) consumer_forget;
%rename(consumer_stop) consumer_stop;
%rename(consumer_stop_take) consumer_stop_take;
%rename(consumer_lost) consumer_lost;
%rename(consumer_close) consumer_close;

%rename(pusher_open) pusher_open;
%rename(pusher_push) pusher_push;
%rename(pusher_done) pusher_done;
%rename(pusher_left) pusher_left;

%rename(wait) dueq_wait;
%rename(pump) dueq_pump;
%rename(descriptor) dueq_descriptor;
%rename(hasten) dueq_hasten;
%rename(take) dueq_take;
%rename(abandon) dueq_abandon;

%rename(version) dueq_version;
%rename(state_name) dueq_state_name;
%rename(status_name) dueq_status_name;
%rename(status_text) dueq_status_text;
%rename(status_retriable) dueq_status_retriable;

#define DUEQ_API
%include "dueq.h"
%include "dueq_redisson.h"
%include "dueq_laravel.h"
