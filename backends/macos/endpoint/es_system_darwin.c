/* es_system_darwin - fills the seam from the messages of libEndpointSecurity, and answers them. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/es_system.h"

#include <EndpointSecurity/EndpointSecurity.h>
#include <dispatch/dispatch.h>
#include <errno.h>
#include <libproc.h>
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "backends/macos/endpoint/es_events.h"
#include "backends/macos/endpoint/es_message.h"
#include "backends/macos/mark.h"
#include "core/base/log.h"
#include "core/base/util.h"

#define PROCESSES_MAX 65536
#define TICK_NS	      (50 * NSEC_PER_MSEC) /* shorter than the margin before a deadline */

static struct {
	es_client_t *client;
	struct es_queue *queue;
	struct es_out out;
	dispatch_source_t timer;
	char *session;
} the;

/* ---- messages of the system ------------------------------------------------------------------ */

static int64_t now(void *data)
{
	(void)data;
	return es_us_of(mach_absolute_time());
}

static void on_message(const es_message_t *from)
{
	struct es_reading r = {.argv = BUF_INIT};

	if (!es_message_head(from, &r.m))
		return;
	if (r.m.handle)
		es_retain_message(from);
	if (es_queue_skips(the.queue, &r.m))
		return;
	es_message_body(from, &r);
	es_queue_put(the.queue, &r.m);
	es_reading_done(&r);
}

/* Answers. The kernel must not cache the answer: the same program may run inside and outside. */
static void respond(void *data, uint64_t handle, enum es_kind kind, bool allow)
{
	const es_message_t *m = (const es_message_t *)(uintptr_t)handle;
	es_respond_result_t r;

	(void)data;
	if (kind == ES_OPEN)
		r = es_respond_flags_result(the.client, m,
					    allow ? (uint32_t)m->event.open.fflag : 0, false);
	else
		r = es_respond_auth_result(
			the.client, m, allow ? ES_AUTH_RESULT_ALLOW : ES_AUTH_RESULT_DENY, false);
	if (r != ES_RESPOND_RESULT_SUCCESS)
		log_warn("endpoint", "an answer was not taken: %d", (int)r);
	es_release_message(m);
}

/* ---- the system's process table -------------------------------------------------------------- */

static bool token_of(int pid, audit_token_t *ret)
{
	mach_msg_type_number_t n = TASK_AUDIT_TOKEN_COUNT;
	mach_port_name_t port;
	bool r;

	if (task_name_for_pid(mach_task_self(), pid, &port) != KERN_SUCCESS)
		return false;
	r = task_info(port, TASK_AUDIT_TOKEN, (task_info_t)ret, &n) == KERN_SUCCESS;
	mach_port_deallocate(mach_task_self(), port);
	return r;
}

/* Returns the process's id; the version is 0 if the system does not report it. */
static struct es_id id_of_pid(void *data, int pid)
{
	struct proc_bsdinfo info;
	audit_token_t token;
	struct es_id id = {.pid = pid};

	(void)data;
	if (token_of(pid, &token))
		id = es_id_of_token(token);
	if (proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof(info)) == (int)sizeof(info))
		id.started_us = es_start_of(info.pbi_start_tvsec, info.pbi_start_tvusec);
	return id;
}

static size_t list(void *data, int32_t *out, size_t max)
{
	int n = proc_listallpids(out, (int)(max * sizeof(*out)));

	(void)data;
	return n > 0 ? MIN((size_t)n, max) : 0;
}

/* Looks up a process. The version is left out: the start suffices. A process that this user may not
 * inspect counts as alive. */
static bool look(void *data, int32_t pid, struct es_kin *ret)
{
	struct proc_bsdinfo info;

	(void)data;
	*ret = (struct es_kin){.id = {.pid = pid}};
	errno = 0;
	if (proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof(info)) != (int)sizeof(info))
		return errno != ESRCH;
	ret->id.started_us = es_start_of(info.pbi_start_tvsec, info.pbi_start_tvusec);
	ret->parent = (int32_t)info.pbi_ppid;
	return true;
}

static bool is_marked(void *data, int32_t pid)
{
	(void)data;
	return mac_is_marked(pid, the.session);
}

static const struct es_table table = {.list = list, .look = look, .is_marked = is_marked};

/* Kills the process. Its number could be reused between look() and kill() only if a hundred
 * thousand processes started meanwhile. */
static bool end(void *data, struct es_id id)
{
	struct es_kin kin;

	if (id.pid <= 1 || id.pid == getpid() || !look(data, id.pid, &kin) ||
	    !es_same_start(id, kin.id))
		return false;
	return kill(id.pid, SIGKILL) == 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static enum es_lack lack_of(es_new_client_result_t r)
{
	switch ((int)r) {
	case ES_NEW_CLIENT_RESULT_SUCCESS:
		return ES_LACKS_NOTHING;
	case ES_NEW_CLIENT_RESULT_ERR_NOT_ENTITLED:
		return ES_LACKS_ENTITLEMENT;
	case ES_NEW_CLIENT_RESULT_ERR_NOT_PERMITTED:
		return ES_LACKS_PERMISSION;
	case ES_NEW_CLIENT_RESULT_ERR_NOT_PRIVILEGED:
		return ES_LACKS_ROOT;
	case ES_NEW_CLIENT_RESULT_ERR_TOO_MANY_CLIENTS:
		return ES_LACKS_ROOM;
	default:
		return ES_LACKS_SYSTEM;
	}
}

static void start_timer(void)
{
	the.timer =
		dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0,
				       dispatch_get_global_queue(QOS_CLASS_USER_INTERACTIVE, 0));
	dispatch_source_set_timer(the.timer, DISPATCH_TIME_NOW, TICK_NS, TICK_NS / 10);
	dispatch_source_set_event_handler(the.timer, ^{
	  es_queue_backstop(the.queue);
	});
	dispatch_resume(the.timer);
}

static void stop_timer(void)
{
	dispatch_semaphore_t ended = dispatch_semaphore_create(0);

	dispatch_source_set_cancel_handler(the.timer, ^{
	  dispatch_semaphore_signal(ended);
	});
	dispatch_source_cancel(the.timer);
	dispatch_semaphore_wait(ended, DISPATCH_TIME_FOREVER);
	dispatch_release(ended);
	dispatch_release(the.timer);
	the.timer = NULL;
}

/* Mutes the processes that exist before the agent does, as they are outside: none of their calls
 * waits for an answer. A token names one process until its next exec. */
static void mute_outsiders(void)
{
	AUTO_FREE int32_t *pids = xcalloc(PROCESSES_MAX, sizeof(*pids));
	size_t n = list(NULL, pids, PROCESSES_MAX);
	audit_token_t token;

	for (size_t i = 0; i < n; i++)
		if (token_of(pids[i], &token))
			(void)es_mute_process(the.client, &token);
}

static int subscribe(struct err *err)
{
	static const struct {
		es_event_type_t event;
		const char *name;
		unsigned since;
	} rows[] = {
#define ROW(name, kind, since) {ES_EVENT_TYPE_##name, #name, since},
		ES_EVENTS(ROW)
#undef ROW
	};
	es_event_type_t needed[ARRAY_LEN(rows)];
	uint32_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].since <= ES_EVENTS_NEEDED)
			needed[n++] = rows[i].event;
	if (es_subscribe(the.client, needed, n) != ES_RETURN_SUCCESS)
		return err_say(err, -EIO,
			       "Endpoint Security does not tell of files: restart the system");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].since > ES_EVENTS_NEEDED &&
		    es_subscribe(the.client, &rows[i].event, 1) != ES_RETURN_SUCCESS)
			log_info("endpoint", "%s is not told of before macOS %u.%u", rows[i].name,
				 rows[i].since / 100, rows[i].since % 100);
	return 0;
}

/* Stops answers first and messages second, so that waiting messages are denied. The queue's owner
 * frees it. */
static void stop(void *data)
{
	(void)data;
	if (the.queue)
		es_queue_shut(the.queue);
	if (the.timer)
		stop_timer();
	if (the.client)
		es_delete_client(the.client);
	the.client = NULL;
	the.queue = NULL;
	free(the.session);
	the.session = NULL;
}

static int start(void *data, const char *session, struct es_queue **ret, struct err *err)
{
	int r;

	(void)data;
	the.out = (struct es_out){.respond = respond, .now = now, .end = end, .table = &table};
	the.queue = es_queue_new(&the.out);
	if (!the.queue)
		return err_set(err, -errno, "make a pipe");
	the.session = xstrdup(session);
	r = es_lack_say(lack_of(es_new_client(&the.client,
					      ^(es_client_t *client, const es_message_t *message) {
						(void)client;
						on_message(message);
					      })),
			err);
	if (r == 0) {
		start_timer();
		mute_outsiders();
		r = subscribe(err);
	}
	*ret = the.queue;
	if (r < 0) {
		stop(NULL);
		es_queue_free(*ret);
		*ret = NULL;
	}
	return r;
}

const struct es_system es_system_darwin = {.start = start, .id_of = id_of_pid, .stop = stop};
