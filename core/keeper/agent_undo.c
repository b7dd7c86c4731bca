/* agent_undo - judges an undo or redo that the agent requests by the policy. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/agent_undo.h"

#include <errno.h>
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/keeper/state.h"
#include "core/policy/policy.h"

/* Returns whether the path is in a granted place outside the working folders. */
static bool is_granted(const struct keeper *k, const char *path)
{
	for (size_t i = 0; i < k->n_folders; i++)
		if (!k->folders[i]->granted && path_is_beneath(path, k->folders[i]->path))
			return false;
	return true;
}

/* Settles a change that depends on content. An undo restores content that was there when the step
 * began. A redo restores the agent's content, which the user may have undone because of it. */
static enum policy_verdict settle(const struct keeper *k, enum undo_kind kind, const char *path)
{
	const enum policy_content content = policy_content(k->policy, path);

	return kind != UNDO_REDO || content == CONTENT_INDEX || content == CONTENT_EMPTY
		       ? POLICY_ALLOW
		       : POLICY_ASK;
}

static enum policy_verdict verdict_of(const struct keeper *k, enum undo_kind kind,
				      enum policy_act act, const char *path, const char **reason)
{
	enum policy_verdict v = POLICY_ALLOW;

	if (is_granted(k, path))
		v = policy_check_outside(k->policy, act, path, reason);
	if (v == POLICY_ALLOW)
		v = policy_check(k->policy, act, path, reason);
	if (v == POLICY_ALLOW && act == POLICY_RENAME_TO && policy_minds_type(k->policy, path))
		v = policy_check(k->policy, POLICY_DIR_TO, path, reason);
	if (v == POLICY_ALLOW && act == POLICY_RENAME_TO && policy_minds_type(k->policy, path))
		v = policy_check(k->policy, POLICY_SYMLINK, path, reason);
	return v == POLICY_VET ? settle(k, kind, path) : v;
}

/* Judges both names of an entry. Returns the stricter verdict. */
static enum policy_verdict judge_entry(const struct keeper *k, const struct undo_plan *p,
				       const struct undo_entry *e, const char **reason)
{
	const char *base = e->base ? e->base : k->folders[0]->path;
	AUTO_FREE char *path = path_join(base, e->path);
	AUTO_FREE char *other = e->other ? path_join(base, e->other) : NULL;
	bool goes = e->what == 'D' || e->what == 'R';
	enum policy_verdict v =
		verdict_of(k, p->kind, goes ? POLICY_REMOVE : POLICY_RENAME_TO, path, reason);

	if (v != POLICY_ALLOW || !other)
		return v;
	return verdict_of(k, p->kind, POLICY_RENAME_TO, other, reason);
}

int agent_undo_judge(const struct keeper *k, struct undo_plan *plan, size_t *ret_asks,
		     struct err *err)
{
	*ret_asks = 0;
	for (size_t i = 0; i < plan->n_entries; i++) {
		struct undo_entry *e = &plan->entries[i];
		const char *reason = NULL;
		enum policy_verdict v;

		if (undo_entry_elsewhere(plan, e))
			continue;
		v = judge_entry(k, plan, e, &reason);
		if (v == POLICY_ALLOW || v == POLICY_VET)
			continue;
		if (v != POLICY_ASK)
			return err_say(err, -EACCES, "'%s' would change: %s", e->path,
				       reason ? reason : "a rule denies it");
		free(e->why);
		e->why = xstrdup(reason ? reason : "it is protected");
		++*ret_asks;
	}
	return 0;
}

int agent_undo_check(const struct keeper *k, enum undo_kind kind, size_t n, unsigned flags,
		     struct err *err)
{
	struct undo_plan *plan = NULL;
	size_t asks = 0;
	int r = journal_plan(k->journal, kind, n, flags, &plan, err);

	if (r == 0)
		r = agent_undo_judge(k, plan, &asks, err);
	undo_plan_free(plan);
	return r == 0 && asks ? err_say(err, -EACCES,
					"it would change protected files, and the user was "
					"not asked about them")
			      : r;
}
