/* spawn_hidden - finds the files and directories that the agent must not see. */
/* SPDX-License-Identifier: MIT */
#include "core/session/start/spawn.h"

#include <errno.h>

#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/policy.h"

static void add_note(struct spawn_plan *p, char *words)
{
	p->notes = xrealloc(p->notes, (p->n_notes + 1) * sizeof(*p->notes));
	p->notes[p->n_notes++] = words;
}

static int check_unseen(struct spawn_plan *p, int64_t seconds, struct err *err)
{
	const char *first;
	size_t n = policy_unseen(p->policy, &first);

	if (!n)
		return 0;
	if (seconds)
		return err_say(
			err, -ETIME,
			"%zu directories could not be searched for .env files and for other names "
			"of protected files in %lld seconds; one is %s: raise "
			"sandbox.search-seconds, work in a smaller folder, or set it to 0, which "
			"starts without",
			n, (long long)seconds, first);
	add_note(p, xasprintf("the tree is too large to be searched for secrets: %zu directories "
			      "were not looked at, so .env files in them can be read; one is %s",
			      n, first));
	return 0;
}

static void note_closed(struct spawn_plan *p)
{
	const char *first;
	size_t n = policy_closed_whole(p->policy, &first);

	if (n)
		add_note(p, xasprintf("%zu system directories cannot be read inside, because they "
				      "are too large to search for files that only root may read; "
				      "one is %s; --ro DIR opens it",
				      n, first));
}

#define SEARCH_MAX 86400 /* seconds */

/* Returns 0 without a sandbox (an undo, say): no agent reads anything. */
static int64_t search_seconds(const struct session_spec *spec)
{
	const int64_t set = config_int(spec->config, "sandbox.search-seconds");

	return spec->backend ? MAX(0, MIN(set, SEARCH_MAX)) : 0;
}

void spawn_begin_search(struct spawn_plan *p, const struct session_spec *spec, const char *seen)
{
	const int64_t seconds = search_seconds(spec);
	const struct policy_search s = {.us = seconds * 1000000,
					.slow = seconds ? spec->slow : NULL,
					.data = spec->slow_data,
					.seen = seen};

	policy_search(p->policy, &s);
}

int spawn_end_search(struct spawn_plan *p, const struct session_spec *spec, struct err *err)
{
	policy_search(p->policy, NULL);
	return check_unseen(p, search_seconds(spec), err);
}

void spawn_hide(struct spawn_plan *p, const struct session_spec *spec)
{
	const char *const *list, *reason;
	size_t n = policy_hidden(p->policy, &list);

	for (size_t i = 0; i < n; i++)
		util_list_push(&p->hidden, &p->n_hidden, xstrdup(list[i]));
	note_closed(p);
	n = policy_closed(p->policy, &list);
	for (size_t i = 0; i < n; i++)
		if (policy_check_read(p->policy, RULE_READ, list[i], &reason) != POLICY_ALLOW)
			util_list_push(&p->hidden, &p->n_hidden, xstrdup(list[i]));
	for (size_t i = 0; spec->folders[i]; i++) {
		/* The undo store, if it had to be put into the folder. */
		util_list_push(&p->hidden, &p->n_hidden, path_join(spec->folders[i], ".cordon"));
	}
	for (size_t i = 0; spec->overlays && spec->overlays[i]; i++)
		policy_find_secrets(p->policy, spec->overlays[i]);
	for (size_t i = 0; spec->read_only && spec->read_only[i]; i++)
		policy_find_secrets(p->policy, spec->read_only[i]);
	n = policy_secret_paths(p->policy, &list);
	for (size_t i = 0; i < n; i++)
		util_list_push(&p->hidden, &p->n_hidden, xstrdup(list[i]));
	p->spec.covered = list;
	p->spec.hidden = (const char *const *)p->hidden;
	if (policy_gated(p->policy, &list))
		p->spec.gated = list;
	if (policy_granted(p->policy, &list))
		p->spec.granted = list;
}
