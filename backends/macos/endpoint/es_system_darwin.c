/* es_system_darwin - fills the seam from the messages of libEndpointSecurity, and answers them. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/es_system.h"

#include <EndpointSecurity/EndpointSecurity.h>
#include <bsm/libbsm.h>
#include <dispatch/dispatch.h>
#include <errno.h>
#include <fcntl.h>
#include <mach/mach_time.h>
#include <pthread.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/util.h"

#define TICK_NS	     (50 * NSEC_PER_MSEC) /* shorter than the margin before a deadline */
#define FORK_VERSION 4			  /* of messages that have global_seq_num and the parent */

struct es_system {
	es_client_t *client;
	struct es_client *decides;
	struct es_seam seam;
	dispatch_source_t timer;
	pthread_mutex_t lock;
};

/* ---- from the system ------------------------------------------------------------------------- */

static struct es_id id_of(audit_token_t token)
{
	return (struct es_id){audit_token_to_pid(token),
			      (uint32_t)audit_token_to_pidversion(token)};
}

static int64_t us_of(uint64_t mach)
{
	static mach_timebase_info_data_t base;

	if (!base.denom)
		mach_timebase_info(&base);
	return (int64_t)(mach / 1000 * base.numer / base.denom);
}

static int64_t now(void *data)
{
	(void)data;
	return us_of(mach_absolute_time());
}

static char *copy(es_string_token_t text)
{
	return xstrndup(text.data, text.length);
}

/* Heap. */
static char *file_path(const es_file_t *file, struct es_message *m)
{
	m->cut |= file->path_truncated;
	return copy(file->path);
}

static char *new_path(const es_file_t *dir, es_string_token_t name, struct es_message *m)
{
	AUTO_FREE char *above = file_path(dir, m);

	return xasprintf("%s/%.*s", strcmp(above, "/") == 0 ? "" : above, (int)name.length,
			 name.data);
}

static void read_rename(const es_event_rename_t *e, struct es_message *m, char **path, char **path2)
{
	m->kind = ES_RENAME;
	*path = file_path(e->source, m);
	*path2 = e->destination_type == ES_DESTINATION_TYPE_EXISTING_FILE
			 ? file_path(e->destination.existing_file, m)
			 : new_path(e->destination.new_path.dir, e->destination.new_path.filename,
				    m);
}

static void read_create(const es_event_create_t *e, struct es_message *m, char **path)
{
	m->kind = ES_CREATE;
	*path = e->destination_type == ES_DESTINATION_TYPE_EXISTING_FILE
			? file_path(e->destination.existing_file, m)
			: new_path(e->destination.new_path.dir, e->destination.new_path.filename,
				   m);
}

/* False: it is none that was asked for. */
static bool read_event(const es_message_t *from, struct es_message *m, char **path, char **path2)
{
	switch ((int)from->event_type) {
	case ES_EVENT_TYPE_AUTH_OPEN:
		m->kind = ES_OPEN;
		m->writes = from->event.open.fflag & FWRITE;
		*path = file_path(from->event.open.file, m);
		return true;
	case ES_EVENT_TYPE_AUTH_EXEC:
		m->kind = ES_EXEC;
		*path = file_path(from->event.exec.target->executable, m);
		return true;
	case ES_EVENT_TYPE_AUTH_SIGNAL:
		m->kind = ES_SIGNAL;
		m->signal = from->event.signal.sig;
		m->target = id_of(from->event.signal.target->audit_token);
		return true;
	case ES_EVENT_TYPE_AUTH_GET_TASK:
		m->kind = ES_GET_TASK;
		m->target = id_of(from->event.get_task.target->audit_token);
		return true;
	case ES_EVENT_TYPE_AUTH_UNLINK:
		m->kind = ES_UNLINK;
		*path = file_path(from->event.unlink.target, m);
		return true;
	case ES_EVENT_TYPE_AUTH_RENAME:
		read_rename(&from->event.rename, m, path, path2);
		return true;
	case ES_EVENT_TYPE_AUTH_CREATE:
		read_create(&from->event.create, m, path);
		return true;
	case ES_EVENT_TYPE_NOTIFY_FORK:
		m->kind = ES_FORK;
		m->target = id_of(from->event.fork.child->audit_token);
		return true;
	case ES_EVENT_TYPE_NOTIFY_EXIT:
		m->kind = ES_EXIT;
		return true;
	case ES_EVENT_TYPE_NOTIFY_XPC_CONNECT:
		m->kind = ES_XPC_CONNECT;
		*path = copy(from->event.xpc_connect->service_name);
		return true;
	default:
		return false;
	}
}

static void on_message(struct es_system *s, const es_message_t *from)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *path2 = NULL;
	struct es_message m = {.process = id_of(from->process->audit_token)};

	if (!read_event(from, &m, &path, &path2))
		return;
	if (from->version >= FORK_VERSION) {
		m.seq = from->global_seq_num;
		m.parent = id_of(from->process->parent_audit_token);
	}
	if (from->action_type == ES_ACTION_TYPE_AUTH) {
		es_retain_message(from);
		m.handle = (uint64_t)(uintptr_t)from;
		m.deadline_us = us_of(from->deadline);
	}
	m.path2 = path2;
	if (m.kind == ES_XPC_CONNECT)
		m.service = path;
	else
		m.path = path;
	pthread_mutex_lock(&s->lock);
	es_client_take(s->decides, &m);
	pthread_mutex_unlock(&s->lock);
}

/* Nothing is cached by the kernel: the same program is inside once and outside the next time. */
static void on_answer(void *data, uint64_t handle, enum es_kind kind, bool allow)
{
	struct es_system *s = data;
	const es_message_t *m = (const es_message_t *)(uintptr_t)handle;
	es_respond_result_t r;

	if (kind == ES_OPEN)
		r = es_respond_flags_result(s->client, m, allow ? (uint32_t)m->event.open.fflag : 0,
					    false);
	else
		r = es_respond_auth_result(
			s->client, m, allow ? ES_AUTH_RESULT_ALLOW : ES_AUTH_RESULT_DENY, false);
	if (r != ES_RESPOND_RESULT_SUCCESS)
		log_warn("endpoint", "an answer was not taken: %d", (int)r);
	es_release_message(m);
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

static void start_timer(struct es_system *s)
{
	s->timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0,
					  dispatch_get_global_queue(QOS_CLASS_USER_INTERACTIVE, 0));
	dispatch_source_set_timer(s->timer, DISPATCH_TIME_NOW, TICK_NS, TICK_NS / 10);
	dispatch_source_set_event_handler(s->timer, ^{
	  pthread_mutex_lock(&s->lock);
	  es_client_tick(s->decides);
	  pthread_mutex_unlock(&s->lock);
	});
	dispatch_resume(s->timer);
}

static int subscribe(struct es_system *s, struct err *err)
{
	static const es_event_type_t events[] = {
		ES_EVENT_TYPE_NOTIFY_FORK, ES_EVENT_TYPE_NOTIFY_EXIT, ES_EVENT_TYPE_AUTH_EXEC,
		ES_EVENT_TYPE_AUTH_OPEN,   ES_EVENT_TYPE_AUTH_SIGNAL, ES_EVENT_TYPE_AUTH_GET_TASK,
		ES_EVENT_TYPE_AUTH_UNLINK, ES_EVENT_TYPE_AUTH_RENAME, ES_EVENT_TYPE_AUTH_CREATE,
	};
	const es_event_type_t xpc = ES_EVENT_TYPE_NOTIFY_XPC_CONNECT;

	if (es_subscribe(s->client, events, ARRAY_LEN(events)) != ES_RETURN_SUCCESS)
		return err_say(err, -EIO,
			       "Endpoint Security does not tell of files: restart the system");
	/* macOS 14 on: without it nothing else is lost. */
	if (es_subscribe(s->client, &xpc, 1) != ES_RETURN_SUCCESS)
		log_info("endpoint", "connections to services are not told of before macOS 14");
	return 0;
}

int es_system_start(struct es_system **ret, const struct es_hooks *hooks, bool debug,
		    struct es_id agent, struct err *err)
{
	struct es_system *s = xcalloc(1, sizeof(*s));
	int r;

	pthread_mutex_init(&s->lock, NULL);
	s->seam = (struct es_seam){.data = s, .answer = on_answer, .now = now};
	s->decides = es_client_new(&s->seam, hooks, debug);
	es_client_add(s->decides, agent);
	r = es_lack_say(lack_of(es_new_client(&s->client,
					      ^(es_client_t *client, const es_message_t *message) {
						(void)client;
						on_message(s, message);
					      })),
			err);
	if (r == 0) {
		start_timer(s);
		r = subscribe(s, err);
	}
	if (r < 0) {
		es_system_stop(s);
		return r;
	}
	*ret = s;
	return 0;
}

/* First no messages, then no answers: what waits is denied in between. */
void es_system_stop(struct es_system *s)
{
	if (!s)
		return;
	if (s->timer) {
		dispatch_semaphore_t ended = dispatch_semaphore_create(0);

		dispatch_source_set_cancel_handler(s->timer, ^{
		  dispatch_semaphore_signal(ended);
		});
		dispatch_source_cancel(s->timer);
		dispatch_semaphore_wait(ended, DISPATCH_TIME_FOREVER);
		dispatch_release(ended);
		dispatch_release(s->timer);
	}
	pthread_mutex_lock(&s->lock);
	es_client_failsafe(s->decides, true);
	pthread_mutex_unlock(&s->lock);
	if (s->client)
		es_delete_client(s->client);
	es_client_free(s->decides);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int es_system_answer(struct es_system *s, uint64_t question, bool allow, int64_t lasts_us)
{
	int r;

	pthread_mutex_lock(&s->lock);
	r = es_client_answer(s->decides, question, allow, lasts_us);
	pthread_mutex_unlock(&s->lock);
	return r;
}

void es_system_failsafe(struct es_system *s, bool on)
{
	pthread_mutex_lock(&s->lock);
	es_client_failsafe(s->decides, on);
	pthread_mutex_unlock(&s->lock);
}

void es_system_forget(struct es_system *s)
{
	pthread_mutex_lock(&s->lock);
	es_client_forget(s->decides);
	pthread_mutex_unlock(&s->lock);
}
