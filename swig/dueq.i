/*
 * The flat private module dueq._core: dueq.h, dueq_redisson.h and dueq_laravel.h without their
 * blocking calls. The classes are in bindings/python/dueq. This file lists what is wrapped. Each
 * included file has the rules for one kind of value.
 */
%module(package="dueq") _core

%{
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dueq_laravel.h"
#include "dueq_redisson.h"
%}

%include <stdint.i>
%include "objects.i" /* texts, bytes and tuples out */
%include "status.i"  /* a failing status becomes an exception */
%include "bytes.i"   /* bytes, buffers and text in, borrowed during the call */
%include "link.i"    /* a client and its queues, the handles of every call */
%include "draft.i"   /* messages in */
%include "reserve.i" /* the options of a reserve */
%include "limit.i"   /* the limits that a call sets */
%include "redisson.i" /* values in and out */
%include "laravel.i" /* jobs in and out */
%include "result.i"  /* outcomes, messages, counts and rates out */
%include "consumer.i" /* the loop with a heartbeat */
%include "pusher.i"  /* pushes in flight, each with its own object */
%include "batch.i"    /* the options of a batch, in */
%include "schedule.i" /* schedules, and their messages, in */
%include "wait.i"    /* the calls without the GIL */

%rename("$ignore", %$isfunction) "";
%rename("$ignore", %$isclass) "";
%rename("$ignore", %$isvariable) "";
%rename("%(strip:[DUEQ_])s", %$isenumitem) "";
%rename("%(strip:[DUEQ_])s", %$isconstant) "";

%rename(client_open) client_open;
%rename(client_url) dueq_client_url;
%rename(queue_open) queue_open;
%rename(queue_durability) dueq_queue_durability;
%rename(queue_keep) dueq_queue_keep;
%rename(partitions_open) partitions_open;
%rename(partition_name) partition_name;
%rename(partition_for) dueq_partition_for;
%rename(new_id) dueq_new_id;
%rename(duration_ms) dueq_duration_ms;
%rename(client_reached) client_reached;

/* The verbs. A consumer's submits are called by the functions in consumer.i. */
%rename("%(strip:[dueq_])s", %$isfunction, regexmatch$name="_submit$",
        notregexmatch$name="consumer") "";

%rename(schedule_next) schedule_next;
%rename("$ignore") dueq_schedule_run_submit;

%rename(redisson_open) redisson_open;
%rename(codec_decode) dueq_codec_decode;

%rename(laravel_open) laravel_open;

%rename(consumer_open) consumer_open;
%rename(consumer_next) consumer_next;
%rename(consumer_take) consumer_take;
%rename(consumer_queue) consumer_queue;
%rename(consumer_ack) consumer_ack;
%rename(consumer_retry) consumer_retry;
%rename(consumer_forget) consumer_forget;
%rename(consumer_stop) consumer_stop;
%rename(consumer_stop_take) consumer_stop_take;
%rename(wake_by) wake_by;
%rename(consumer_warning) consumer_warning;
%rename(consumer_has_lost) consumer_has_lost;
%rename(consumer_keep_ack) consumer_keep_ack;
%rename(consumer_disown) consumer_disown;
%rename(consumer_leave) consumer_leave;
%rename(consumer_wind_down) consumer_wind_down;
%rename(consumer_lost) consumer_lost;
%rename(consumer_close) consumer_close;

%rename(pusher_open) pusher_open;
%rename(pusher_push) pusher_push;
%rename(pusher_done) pusher_done;
%rename(pusher_left) pusher_left;

%rename(wait) dueq_wait;
%rename(pump) dueq_pump;
%rename(descriptor) dueq_descriptor;
%rename(stop_wait) dueq_stop_wait;
%rename(take) dueq_take;
%rename(answer) answer;
%rename(abandon) dueq_abandon;

%rename(version) dueq_version;
%rename(set_fallbacks) dueq_set_fallbacks;
%rename(state_name) dueq_state_name;
%rename(status_name) dueq_status_name;
%rename(status_text) dueq_status_text;
%rename(status_retriable) dueq_status_retriable;

#define DUEQ_API
%include "dueq.h"
%include "dueq_verbs.h"
%include "dueq_redisson.h"
%include "dueq_laravel.h"
