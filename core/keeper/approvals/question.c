/* question - one question for the user: its key, the answers it offers, its frames to cordon. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/question.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/keeper/channel.h"
#include "core/keeper/guest_facts.h"
#include "core/keeper/procs.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/label.h"
#include "core/keeper/steps/steps.h"
#include "core/policy/builtin/sockets.h"

char *question_key(enum rule_kind kind, const char *path)
{
	static const char letters[RULE_KINDS] = {
#define X(id, word, gerund, letter) [RULE_##id] = (letter),
		RULE_KINDS_X(X)
#undef X
	};

	return xasprintf("%c%s", letters[kind], path);
}

/* Adds the program and the first words of its command, into which the agent can write anything. */
static void describe(const struct caller *c, struct buf *program, struct buf *command)
{
	const struct guest_facts *guest = c->proc ? c->proc->guest : NULL;
	int pid = c->pid;
	AUTO_CLOSE int fd = -1;
	char name[32], exe[PATH_MAX], text[LABEL_MAX + sizeof(LABEL_REST)];
	ssize_t n;

	if (guest) {
		buf_str(program, guest->exe);
		if (guest->argv_len)
			label_command(command, guest->argv, guest->argv_len);
		return;
	}
	if (proc_link(pid, "exe", exe))
		buf_str(program, exe);
	snprintf(name, sizeof(name), "/proc/%d/cmdline", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : io_read_full(fd, text, LABEL_MAX);
	if (n <= 0)
		return;
	if (n == LABEL_MAX) {
		text[n - 1] = '\0';
		memcpy(text + n, LABEL_REST, strlen(LABEL_REST));
		n += (ssize_t)strlen(LABEL_REST);
	} else if (text[n - 1] != '\0') {
		text[n++] = '\0';
	}
	label_command(command, text, (size_t)n);
}

/* Returns whether programs of all kinds put their sockets there: a whole directory or tree of them
 * is not offered. */
static bool is_common(const char *path)
{
	return path_is_beneath(path, "/run") || path_is_beneath(path, "/var/run") ||
	       path_is_beneath(path, "/tmp");
}

bool question_offered(const struct keeper *k, const struct question *q, const struct answer *a)
{
	AUTO_FREE char *object = answer_object(q->path, q->is_dir, a);

	if (q->kind >= RULE_PLACES)
		return !a->up && a->extent != EXTENT_BUNDLE &&
		       policy_answer_offered(k->policy, q->kind, q->path, a->extent);
	if (q->kind == RULE_UNIX && a->extent != EXTENT_EXACT && is_common(q->path))
		return false;
	if (a->extent == EXTENT_BUNDLE)
		return q->bundle && a->scope >= SCOPE_SESSION;
	return policy_extent_offered(k->policy, object, a->extent);
}

/* Returns how many directories further up a whole tree may be allowed. */
static unsigned widest(const struct keeper *k, const struct question *q)
{
	struct answer a = {.extent = EXTENT_TREE, .up = 1};

	while (a.up <= ANSWER_UP_MAX && question_offered(k, q, &a))
		a.up++;
	return a.up - 1;
}

/* Returns whether the call ends before its question: only the call is denied. */
static bool ends_first(const struct keeper *k, const struct caller *c)
{
	return c->held_for_s && (!k->spec->ask_timeout_s || c->held_for_s < k->spec->ask_timeout_s);
}

void question_send(struct keeper *k, const struct caller *c, const struct question *q,
		   const struct wished *w)
{
	AUTO_BUF struct buf program = BUF_INIT, command = BUF_INIT, places = BUF_INIT;
	uint8_t flags = (w->is_dir ? ASK_DIR : 0) | (q->command ? ASK_STEP : 0);
	size_t mark;

	if (!question_offered(k, q, &(struct answer){.extent = EXTENT_DIR}))
		flags |= ASK_NO_DIR;
	if (!question_offered(k, q, &(struct answer){.extent = EXTENT_TREE}))
		flags |= ASK_NO_TREE;
	if ((w->kind < RULE_PLACES && policy_name_is_secret(k->policy, path_base(w->path))) ||
	    w->secret || (w->kind == RULE_UNIX && sockets_words(w->path)))
		flags |= ASK_SECRET;
	if (ends_first(k, c))
		flags |= ASK_CALL_ONLY;
	describe(c, &program, &command);
	if (q->bundle)
		policy_bundle_places(k->policy, q->bundle, &places);
	mark = wire_begin(&k->out, WIRE_ASK);
	wire_u64(&k->out, q->id);
	wire_i64(&k->out, steps_id(k, c->proc));
	wire_i64(&k->out, shown_pid(c->pid));
	wire_u8(&k->out, (uint8_t)w->kind);
	wire_u8(&k->out, flags);
	wire_u32(&k->out, ends_first(k, c) ? c->held_for_s : k->spec->ask_timeout_s);
	wire_cstr(&k->out, c->op);
	wire_cstr(&k->out, w->path);
	wire_cstr(&k->out, w->via);
	wire_str(&k->out, program.data, program.len);
	wire_str(&k->out, command.data, command.len);
	wire_cstr(&k->out, w->reason);
	wire_cstr(&k->out, q->command ? q->command->label.data : NULL);
	wire_u8(&k->out, flags & ASK_NO_TREE ? 0 : (uint8_t)widest(k, q));
	wire_cstr(&k->out, q->bundle);
	wire_str(&k->out, places.data, places.len);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

void question_send_gone(struct keeper *k, uint64_t id, enum ask_end why)
{
	size_t mark = wire_begin(&k->out, WIRE_ASK_GONE);

	wire_u64(&k->out, id);
	wire_u8(&k->out, (uint8_t)why);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

char *question_wish(const struct caller *c, const struct wished *w)
{
	if (w->kind != RULE_WRITE && w->kind != RULE_CREDENTIALS && w->kind != RULE_SIGN)
		return xasprintf("%d %s", c->pid, c->op);
	return xasprintf("%d %d %s %s\n%s\n%s", c->pid, c->tid, c->op, w->object ? w->object : "",
			 w->via ? w->via : "", w->reason ? w->reason : "");
}

struct question *question_by_id(struct keeper *k, uint64_t id)
{
	struct question *q;

	for (q = k->questions; q; q = q->hh.next) {
		if (q->id == id)
			return q;
	}
	return NULL;
}
