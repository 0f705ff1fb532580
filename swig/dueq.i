/*
 * The flat private module dueq._core: dueq.h without blocking calls. The classes are written by hand
 * in bindings/python/dueq. This file says what is wrapped; the rules stand once each in the files below.
 */
%module(package="dueq") _core

%{
#include <stdlib.h>
#include <string.h>

#include "dueq.h"
%}

%include <stdint.i>
%include "status.i"  /* a failing status becomes an exception */
%include "bytes.i"   /* bytes, buffers and text in, for the time of the call */
%include "link.i"    /* a client and one queue of it, the handle of every call */
%include "draft.i"   /* messages in */
%include "result.i"  /* outcomes, messages and counts out */
%include "wait.i"    /* the one call without the GIL */

%rename("$ignore", %$isfunction) "";
%rename("$ignore", %$isclass) "";
%rename("$ignore", %$isvariable) "";
%rename("%(strip:[DUEQ_])s", %$isenumitem) "";
%rename("%(strip:[DUEQ_])s", %$isconstant) "";

%rename(link_open) link_open;
%rename(link_url) dueq_client_url;
%rename(new_id) dueq_new_id;

%rename(push_submit) dueq_push_submit;
%rename(reserve_submit) dueq_reserve_submit;
%rename(ack_submit) dueq_ack_submit;
%rename(retry_submit) dueq_retry_submit;
%rename(extend_submit) dueq_extend_submit;
%rename(bury_submit) dueq_bury_submit;
%rename(cancel_submit) dueq_cancel_submit;
%rename(find_submit) dueq_find_submit;
%rename(kick_submit) dueq_kick_submit;
%rename(reschedule_submit) dueq_reschedule_submit;
%rename(pause_submit) dueq_pause_submit;
%rename(resume_submit) dueq_resume_submit;
%rename(purge_submit) dueq_purge_submit;
%rename(stats_submit) dueq_stats_submit;

%rename(wait) dueq_wait;
%rename(take) dueq_take;
%rename(abandon) dueq_abandon;

%rename(version) dueq_version;
%rename(state_name) dueq_state_name;
%rename(status_name) dueq_status_name;
%rename(status_text) dueq_status_text;
%rename(status_retriable) dueq_status_retriable;

#define DUEQ_API
%include "dueq.h"
