/* client - cordon's side of the keeper's socket: requests out, decoded events in. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_MAX     (256u << 10)    /* a turn: the console has more to do than to read us */
#define BARRIERS_MAX 1000	     /* of a plan, and paths of one: more is no keeper of ours */
#define STRINGS	     9		     /* the most that one message has */
#define PLAN_ITEMS   (WIRE_MAX / 19) /* the smallest entry on the wire has 19 bytes */

struct client {
	int fd;
	client_on_event on;
	void *data;
	uint64_t last_request;
	struct buf in, out;
	bool gone, bad; /* nothing more comes; what came makes no sense */
	bool deaf;	/* it takes nothing more: what it said before may still wait to be read */
};

struct client *client_new(int fd, client_on_event on, void *data)
{
	struct client *c = xcalloc(1, sizeof(*c));

	c->fd = fd;
	c->on = on;
	c->data = data;
	c->in = (struct buf)BUF_INIT;
	c->out = (struct buf)BUF_INIT;
	return c;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	util_close_fd(&c->fd);
	buf_done(&c->in);
	buf_done(&c->out);
	free(c);
}

int client_fd(const struct client *c)
{
	return c->fd;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* NUL-terminated copies of a message's strings; free_strings() when the callback has returned. */
struct strings {
	char *list[STRINGS];
	size_t n;
};

static void free_strings(struct strings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i]);
	s->n = 0;
}

static const char *next_string(struct strings *s, struct wire_in *in)
{
	char *copy = wire_get_cstr(in);

	s->list[s->n++] = copy;
	return copy;
}

/* NULL for an empty one. */
static char *get_word(struct wire_in *in)
{
	char *s = wire_get_cstr(in);

	if (!*s)
		free(take_ptr(&s));
	return s;
}

static void plan_barriers(struct undo_plan *p, struct wire_in *in)
{
	uint32_t n = wire_get_u32(in);

	if (n > BARRIERS_MAX)
		in->bad = true;
	p->barriers = xcalloc(in->bad || !n ? 1 : n, sizeof(*p->barriers));
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		struct barrier *b = &p->barriers[p->n_barriers++];
		uint32_t paths;

		b->first_us = wire_get_i64(in);
		b->last_us = wire_get_i64(in);
		b->count = (size_t)wire_get_u64(in);
		b->after = wire_get_i64(in);
		paths = wire_get_u32(in);
		if (paths > BARRIERS_MAX)
			in->bad = true;
		b->paths = xcalloc(in->bad || !paths ? 1 : paths, sizeof(char *));
		for (uint32_t at = 0; at < paths && !in->bad; at++)
			b->paths[b->n_paths++] = wire_get_cstr(in);
	}
}

static void plan_entries(struct undo_plan *p, struct wire_in *in, uint32_t n)
{
	p->entries = xcalloc(n ? n : 1, sizeof(*p->entries));
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		struct undo_entry *e = &p->entries[p->n_entries++];
		uint8_t conflict;

		e->what = (char)wire_get_u8(in);
		conflict = wire_get_u8(in);
		e->later = conflict == CONFLICT_LATER;
		e->conflict = conflict != CONFLICT_NONE && !e->later;
		e->lost = conflict == CONFLICT_LOST;
		e->beside = conflict == CONFLICT_BESIDE;
		e->linked = conflict == CONFLICT_LINKED;
		e->fate = wire_get_u8(in);
		e->root = (int)wire_get_u32(in);
		e->path = wire_get_cstr(in);
		e->other = get_word(in);
		e->why = get_word(in);
		e->base = get_word(in);
	}
}

static void plan_free(struct undo_plan **plan)
{
	undo_plan_free(*plan);
}

static struct undo_plan *read_plan(struct client_event *ev, struct wire_in *in)
{
	struct undo_plan *p = xcalloc(1, sizeof(*p));
	uint8_t kind;
	uint32_t n;

	ev->id = wire_get_u64(in);
	kind = wire_get_u8(in);
	p->kind = kind == UNDO_REDO || kind == UNDO_PATHS ? (enum undo_kind)kind : UNDO_BACK;
	p->n = (size_t)wire_get_u64(in);
	p->flags = wire_get_u32(in);
	p->n_conflicts = (size_t)wire_get_u64(in);
	p->n_stops = (size_t)wire_get_u64(in);
	p->n_paths = (size_t)wire_get_u64(in);
	p->seal = wire_get_u64(in);
	n = wire_get_u32(in);
	if (n > WIRE_MAX / sizeof(int64_t))
		in->bad = true;
	p->ids = xcalloc(in->bad || !n ? 1 : n, sizeof(*p->ids));
	for (uint32_t i = 0; i < n && !in->bad; i++)
		p->ids[p->n_ids++] = wire_get_i64(in);
	plan_barriers(p, in);
	n = wire_get_u32(in);
	if (n > PLAN_ITEMS)
		in->bad = true;
	plan_entries(p, in, in->bad ? 0 : n);
	ev->plan = p;
	return p;
}

static void read_touch(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	ev->step = wire_get_i64(in);
	ev->pid = wire_get_i64(in);
	ev->result = (int)wire_get_u32(in);
	ev->op = next_string(s, in);
	ev->path = next_string(s, in);
	ev->path2 = next_string(s, in);
}

static void read_exec(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	struct span argv;

	ev->step = wire_get_i64(in);
	ev->pid = wire_get_i64(in);
	ev->parent = wire_get_i64(in);
	ev->path = next_string(s, in);
	argv = wire_get_str(in);
	ev->command_len = argv.len;
	s->list[s->n] = xmalloc(argv.len + 1);
	memcpy(s->list[s->n], argv.data, argv.len);
	s->list[s->n][argv.len] = '\0';
	ev->command = s->list[s->n++];
}

static void read_ask(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	ev->id = wire_get_u64(in);
	ev->step = wire_get_i64(in);
	ev->pid = wire_get_i64(in);
	ev->rule_kind = (enum rule_kind)wire_get_u8(in);
	ev->flags = wire_get_u8(in);
	ev->timeout_s = wire_get_u32(in);
	ev->op = next_string(s, in);
	ev->path = next_string(s, in);
	ev->via = next_string(s, in);
	ev->program = next_string(s, in);
	ev->command = next_string(s, in);
	ev->command_len = strlen(ev->command);
	ev->reason = next_string(s, in);
	ev->label = next_string(s, in);
	ev->up = wire_get_u8(in);
	ev->bundle = next_string(s, in);
	ev->places = next_string(s, in);
	in->bad |= ev->rule_kind >= RULE_KINDS;
}

static void read_stopped(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	ev->step = wire_get_i64(in);
	ev->loss = (enum loss)wire_get_u8(in);
	ev->why = (enum guard_why)wire_get_u8(in);
	ev->total = wire_get_u64(in);
	ev->result = (int)wire_get_u32(in);
	ev->command = next_string(s, in);
	ev->command_len = strlen(ev->command);
	ev->reason = next_string(s, in);
	in->bad |= ev->loss >= LOSS_KINDS || ev->why > GUARD_HEADLESS;
}

static void held_free(struct guard_report **r)
{
	guard_report_free(*r);
}

static void read_step(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	ev->step = wire_get_i64(in);
	if (in->type == WIRE_STEP_BEGIN) {
		ev->kind = (enum step_kind)wire_get_u8(in);
		ev->wall_us = wire_get_i64(in);
		ev->command = next_string(s, in);
		ev->command_len = strlen(ev->command);
		return;
	}
	ev->kept = wire_get_u8(in) != 0;
	ev->status = wire_get_u32(in);
	ev->wall_us = wire_get_i64(in);
	ev->done = ev->total = wire_get_u64(in);
	ev->reason = next_string(s, in);
	ev->elsewhere = wire_get_u8(in) != 0;
	ev->command = next_string(s, in);
}

static void read_flow(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	ev->id = wire_get_u64(in);
	ev->flow = (enum flow_state)wire_get_u8(in);
	ev->step = wire_get_i64(in);
	ev->pid = wire_get_i64(in);
	ev->done = wire_get_u64(in);
	ev->total = wire_get_u64(in);
	ev->path = next_string(s, in);
	ev->path2 = next_string(s, in);
	ev->reason = next_string(s, in);
	ev->program = next_string(s, in);
	in->bad |= ev->flow > FLOW_OVER;
}

static void read_port(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	ev->port_state = (enum port_state)wire_get_u8(in);
	ev->port = (uint16_t)wire_get_u32(in);
	ev->host_port = (uint16_t)wire_get_u32(in);
	ev->pid = wire_get_i64(in);
	ev->result = (int)wire_get_u32(in);
	ev->program = next_string(s, in);
	in->bad |= ev->port_state > PORT_FAILED;
}

static void read_other(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	switch ((int)in->type) {
	case WIRE_STARTED:
		ev->pid = wire_get_i64(in);
		break;
	case WIRE_START_FAILED:
		ev->status = wire_get_u32(in);
		ev->reason = next_string(s, in);
		break;
	case WIRE_ASK_GONE:
		ev->id = wire_get_u64(in);
		ev->end = (enum ask_end)wire_get_u8(in);
		break;
	case WIRE_GIVEN:
		ev->rule = wire_get_u64(in);
		ev->id = wire_get_u64(in);
		break;
	case WIRE_GIVEN_OVER:
		ev->rule = wire_get_u64(in);
		break;
	case WIRE_LEFT_OPEN:
		ev->rule = wire_get_u64(in);
		ev->total = wire_get_u64(in);
		ev->reason = next_string(s, in);
		break;
	case WIRE_TALLIES:
		for (size_t i = 0; i < TALLIES; i++)
			ev->tallies[i] = wire_get_u64(in);
		break;
	case WIRE_FLOW:
		read_flow(ev, in, s);
		break;
	case WIRE_PORT:
		read_port(ev, in, s);
		break;
	case WIRE_EXIT:
		ev->status = wire_get_u32(in);
		break;
	case WIRE_PROGRESS:
		ev->id = wire_get_u64(in);
		ev->done = wire_get_u64(in);
		ev->total = wire_get_u64(in);
		break;
	case WIRE_DONE:
		ev->id = wire_get_u64(in);
		ev->result = (int)wire_get_u32(in);
		ev->reason = next_string(s, in);
		break;
	case WIRE_EXTERNAL:
		ev->total = wire_get_u64(in);
		ev->path = next_string(s, in);
		break;
	case WIRE_NOTE:
		ev->note = (enum note_how)wire_get_u8(in);
		ev->reason = next_string(s, in);
		break;
	case WIRE_STEP_UNDONE:
		ev->step = wire_get_i64(in);
		ev->command = next_string(s, in);
		break;
	default:
		in->bad = true;
	}
}

static int dispatch(struct client *c, struct wire_in *in)
{
	struct client_event ev = {0};
	struct strings s = {.n = 0};
	CLEANUP(plan_free) struct undo_plan *plan = NULL;
	CLEANUP(held_free) struct guard_report *held = NULL;

	switch ((int)in->type) {
	case WIRE_TOUCH:
		read_touch(&ev, in, &s);
		break;
	case WIRE_DENY:
		read_touch(&ev, in, &s);
		ev.reason = next_string(&s, in);
		ev.unasked = wire_get_u8(in) != 0;
		break;
	case WIRE_EXEC:
		read_exec(&ev, in, &s);
		break;
	case WIRE_STEP_BEGIN:
	case WIRE_STEP_END:
		read_step(&ev, in, &s);
		break;
	case WIRE_ASK:
		read_ask(&ev, in, &s);
		break;
	case WIRE_HELD:
		ev.held = held = guard_report_get(in);
		break;
	case WIRE_TAKEN_BACK:
		read_stopped(&ev, in, &s);
		break;
	case WIRE_PLAN:
		plan = read_plan(&ev, in);
		break;
	default:
		read_other(&ev, in, &s);
	}
	if (!in->bad)
		c->on(c->data, in->type, &ev);
	free_strings(&s);
	return in->bad ? -EBADMSG : 0;
}

static int dispatch_all(struct client *c)
{
	size_t at = 0;
	int r = 0;

	while (r == 0) {
		const struct buf rest = {.data = c->in.data + at, .len = c->in.len - at};
		struct wire_in in;
		size_t used;

		r = wire_next(&rest, &in, &used);
		if (r <= 0)
			break;
		r = dispatch(c, &in);
		at += used;
	}
	buf_drop_front(&c->in, at);
	return r;
}

int client_read(struct client *c)
{
	size_t got = 0;
	int r;

	if (c->bad)
		return -EBADMSG;
	while (got < READ_MAX && !c->gone) {
		ssize_t n;

		buf_reserve(&c->in, 64u << 10);
		n = recv(c->fd, c->in.data + c->in.len, 64u << 10, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n <= 0) {
			c->gone = true;
			break;
		}
		c->in.len += (size_t)n;
		c->in.data[c->in.len] = '\0';
		got += (size_t)n;
	}
	r = dispatch_all(c);
	if (r < 0) {
		c->bad = true;
		return r;
	}
	return c->gone ? -EPIPE : 0;
}

/* ---- out ------------------------------------------------------------------------------------- */

bool client_wants_write(const struct client *c)
{
	return c->out.len > 0 && !c->deaf;
}

void client_write(struct client *c)
{
	while (c->out.len && !c->deaf) {
		ssize_t n = send(c->fd, c->out.data, c->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0)
			c->deaf = true;
		else
			buf_drop_front(&c->out, (size_t)n);
	}
}

static void finish(struct client *c, size_t mark)
{
	wire_end(&c->out, mark);
	client_write(c);
}

void client_answer(struct client *c, uint64_t ask, const struct answer *a)
{
	size_t mark = wire_begin(&c->out, WIRE_ANSWER);

	wire_u64(&c->out, ask);
	wire_u8(&c->out, a->allow);
	wire_u8(&c->out, (uint8_t)a->scope);
	wire_u8(&c->out, (uint8_t)a->extent);
	wire_u8(&c->out, (uint8_t)a->up);
	wire_i64(&c->out, a->until);
	finish(c, mark);
}

void client_revoke(struct client *c, uint64_t rule)
{
	size_t mark = wire_begin(&c->out, WIRE_REVOKE);

	wire_u64(&c->out, rule);
	finish(c, mark);
}

void client_end_flow(struct client *c, uint64_t flow)
{
	size_t mark = wire_begin(&c->out, WIRE_END_FLOW);

	wire_u64(&c->out, flow);
	finish(c, mark);
}

void client_forbid(struct client *c, uint64_t ask, const char *target)
{
	size_t mark = wire_begin(&c->out, WIRE_FORBID);

	wire_u64(&c->out, ask);
	wire_cstr(&c->out, target);
	finish(c, mark);
}

void client_publish(struct client *c, uint16_t port, uint16_t host_port)
{
	size_t mark = wire_begin(&c->out, WIRE_PUBLISH);

	wire_u32(&c->out, port);
	wire_u32(&c->out, host_port);
	finish(c, mark);
}

uint64_t client_plan(struct client *c, enum undo_kind kind, size_t n, unsigned flags)
{
	size_t mark = wire_begin(&c->out, WIRE_PLAN_REQ);

	wire_u64(&c->out, ++c->last_request);
	wire_u8(&c->out, (uint8_t)kind);
	wire_u64(&c->out, n);
	wire_u32(&c->out, flags);
	finish(c, mark);
	return c->last_request;
}

uint64_t client_undo(struct client *c, enum undo_kind kind, size_t n, unsigned flags,
		     int64_t newest, uint64_t seal)
{
	size_t mark = wire_begin(&c->out, WIRE_UNDO_REQ);

	wire_u64(&c->out, ++c->last_request);
	wire_u8(&c->out, (uint8_t)kind);
	wire_u64(&c->out, n);
	wire_u32(&c->out, flags);
	wire_i64(&c->out, newest);
	wire_u64(&c->out, seal);
	finish(c, mark);
	return c->last_request;
}

static uint64_t restore(struct client *c, bool plan, int64_t step, const char *const *paths,
			unsigned flags)
{
	size_t mark = wire_begin(&c->out, WIRE_RESTORE_REQ);
	uint32_t n = 0;

	while (paths[n])
		n++;
	wire_u64(&c->out, c->last_request + 1);
	wire_u8(&c->out, plan);
	wire_i64(&c->out, step);
	wire_u32(&c->out, flags);
	wire_u32(&c->out, n);
	for (uint32_t i = 0; i < n; i++) {
		size_t len = strlen(paths[i]);

		/* A cut list would restore less than was asked: better nothing. */
		if (len > WIRE_STR_MAX || c->out.len - mark + len + 8 > WIRE_MAX) {
			buf_truncate(&c->out, mark);
			return 0;
		}
		wire_str(&c->out, paths[i], len);
	}
	finish(c, mark);
	return ++c->last_request;
}

uint64_t client_restore(struct client *c, int64_t step, const char *const *paths, unsigned flags)
{
	return restore(c, false, step, paths, flags);
}

uint64_t client_restore_plan(struct client *c, int64_t step, const char *const *paths,
			     unsigned flags)
{
	return restore(c, true, step, paths, flags);
}

void client_cancel(struct client *c, uint64_t request)
{
	size_t mark = wire_begin(&c->out, WIRE_CANCEL);

	wire_u64(&c->out, request);
	finish(c, mark);
}

void client_signal(struct client *c, int sig)
{
	size_t mark = wire_begin(&c->out, WIRE_SIGNAL);

	wire_u32(&c->out, (uint32_t)sig);
	finish(c, mark);
}

void client_limits(struct client *c, const struct limits *l)
{
	size_t mark = wire_begin(&c->out, WIRE_LIMITS);

	wire_u64(&c->out, l->size);
	wire_u64(&c->out, l->step_size);
	wire_u64(&c->out, l->steps);
	wire_u64(&c->out, l->deletes);
	wire_u64(&c->out, l->overwrites);
	wire_u64(&c->out, l->renames);
	wire_u64(&c->out, l->overwrite_bytes);
	wire_u64(&c->out, l->timeout_s);
	finish(c, mark);
}

void client_group(struct client *c, const char *name)
{
	size_t mark = wire_begin(&c->out, WIRE_GROUP);

	wire_cstr(&c->out, name);
	finish(c, mark);
}

void client_stop(struct client *c)
{
	finish(c, wire_begin(&c->out, WIRE_STOP));
}

void client_turn(struct client *c)
{
	finish(c, wire_begin(&c->out, WIRE_TURN));
}

void client_freeze(struct client *c)
{
	finish(c, wire_begin(&c->out, WIRE_FREEZE));
}

void client_shutdown(struct client *c)
{
	finish(c, wire_begin(&c->out, WIRE_SHUTDOWN));
}
