/* client_event - a decoded frame from the keeper. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/client_event.h"

#include <errno.h>
#include <string.h>

#define BARRIERS_MAX 1000	     /* of a plan, and paths of one: more are invalid */
#define STRINGS	     9		     /* the most that a message has */
#define PLAN_ITEMS   (WIRE_MAX / 19) /* the smallest entry has 19 bytes */

/* NUL-terminated copies of a message's strings; freed by free_strings() after the callback. */
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

/* Returns a string, or NULL if it is empty. */
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
		b->own = wire_get_u8(in);
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
	ev->reason = next_string(s, in);
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
	uint8_t places;

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
	places = wire_get_u8(in);
	ev->elsewhere = places & 1;
	ev->granted = places & 2;
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
	ev->reason = next_string(s, in);
	in->bad |= ev->port_state > PORT_FAILED;
}

static void read_rewrite(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	ev->step = wire_get_i64(in);
	ev->pid = wire_get_i64(in);
	ev->op = next_string(s, in);
	ev->path = next_string(s, in);
	ev->path2 = next_string(s, in);
}

static void read_turn(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	ev->begins = wire_get_u8(in);
	if (in->type == WIRE_TURN_BEGAN)
		ev->command = next_string(s, in);
}

static void read_given(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	ev->rule = wire_get_u64(in);
	if (in->type == WIRE_GIVEN)
		ev->id = wire_get_u64(in);
	if (in->type == WIRE_LEFT_OPEN) {
		ev->total = wire_get_u64(in);
		ev->reason = next_string(s, in);
	}
}

static void read_request(struct client_event *ev, struct wire_in *in, struct strings *s)
{
	ev->id = wire_get_u64(in);
	if (in->type == WIRE_DONE) {
		ev->result = (int)wire_get_u32(in);
		ev->reason = next_string(s, in);
	} else {
		ev->done = wire_get_u64(in);
		ev->total = wire_get_u64(in);
	}
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
	case WIRE_GIVEN_OVER:
	case WIRE_LEFT_OPEN:
		read_given(ev, in, s);
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
	case WIRE_REWRITE:
		read_rewrite(ev, in, s);
		break;
	case WIRE_SECRET:
		ev->id = wire_get_u64(in);
		ev->path = next_string(s, in);
		break;
	case WIRE_RAN:
		ev->status = wire_get_u32(in);
		ev->command = next_string(s, in);
		break;
	case WIRE_EXIT:
		ev->status = wire_get_u32(in);
		break;
	case WIRE_PROGRESS:
	case WIRE_DONE:
		read_request(ev, in, s);
		break;
	case WIRE_SHELL_ENDED:
		ev->id = wire_get_u64(in);
		ev->status = wire_get_u32(in);
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
	case WIRE_TURN_BEGAN:
	case WIRE_AGENT_ASKS:
	case WIRE_AGENT_RESTS:
		read_turn(ev, in, s);
		break;
	case WIRE_NOTICED:
		ev->total = wire_get_u64(in);
		break;
	case WIRE_POINT_DONE:
		ev->path = next_string(s, in);
		break;
	case WIRE_STEP_UNDONE:
		ev->step = wire_get_i64(in);
		ev->command = next_string(s, in);
		break;
	default:
		in->bad = true;
	}
}

int client_decode(struct wire_in *in, client_on_event on, void *data)
{
	struct client_event ev = {0};
	struct strings s = {.n = 0};
	uint8_t refusal;
	CLEANUP(plan_free) struct undo_plan *plan = NULL;
	CLEANUP(held_free) struct guard_report *held = NULL;

	switch ((int)in->type) {
	case WIRE_TOUCH:
		read_touch(&ev, in, &s);
		break;
	case WIRE_DENY:
		read_touch(&ev, in, &s);
		refusal = wire_get_u8(in);
		ev.unasked = refusal == WIRE_UNASKED;
		ev.expected = refusal == WIRE_EXPECTED;
		ev.crowded = refusal == WIRE_CROWDED;
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
		on(data, in->type, &ev);
	free_strings(&s);
	return in->bad ? -EBADMSG : 0;
}
