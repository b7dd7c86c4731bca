/* check - decides about a path by built-in protection and rules. */
/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <string.h>

#include "core/base/path.h"
#include "core/policy/git/git_paths.h"
#include "core/policy/rules/glob.h"
#include "core/policy/policy_priv.h"
#include "core/policy/builtin/sockets.h"

/* Places of the system: writes are refused without a question. */
static const char *const system_trees[] = {
	"/bin", "/boot", "/dev", "/etc",  "/lib", "/lib32", "/lib64", "/libx32", "/nix",
	"/opt", "/proc", "/run", "/sbin", "/sys", "/usr",   "/var",   "/snap",
};

static const char hidden_reason[] = "it is hidden from the sandbox";
const char policy_ungranted[] = "it is outside this project, and you have not allowed it yet";
static const char closed_reason[] = "it belongs to the system, and only root may read it";
static const char secret_reason[] = "its name says that it holds secrets";

/* ---- checks ---------------------------------------------------------------------------------- */

static const char *find_hidden(const struct policy *p, const char *path, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (path_is_beneath(path, p->hidden[i]))
			return p->hidden[i];
	return NULL;
}

/* Returns whether renaming the path would move a hidden place along: with ~/.config, its content
 * would be visible under another name. */
static bool holds_hidden(const struct policy *p, const char *path)
{
	bool all = protect_is_candidate(path) || path_is_beneath(p->home, path);

	for (size_t i = all ? 0 : p->n_builtin; i < p->n_set; i++)
		if (path_is_beneath(p->hidden[i], path))
			return true;
	return false;
}

static void check_guarded(const struct policy *p, enum policy_act act, const char *path,
			  struct builtin *b)
{
	if (act == POLICY_MKDIR)
		return;
	for (size_t i = 0; i < p->n_guarded; i++) {
		const struct guarded *g = &p->guarded[i];

		if (act == POLICY_REMOVE && !(g->keep && path_is_beneath(path, g->path)))
			continue;
		/* POLICY_META changes mode bits of files that the host runs; for directories above
		 * these only renames matter. */
		if (path_is_beneath(path, g->path) ||
		    (act != POLICY_META && path_is_beneath(g->path, path))) {
			*b = builtin_says(POLICY_ASK, g->reason, path_depth(g->path), false);
			return;
		}
	}
}

/* Checks guarded files outside the folders: only those to be kept. */
static void check_kept(const struct policy *p, enum policy_act act, const char *path,
		       struct builtin *b)
{
	for (size_t i = 0; i < p->n_guarded; i++) {
		const struct guarded *g = &p->guarded[i];

		if (!g->keep || act == POLICY_MKDIR || b->verdict > POLICY_ASK)
			continue;
		if (path_is_beneath(path, g->path) ||
		    (act != POLICY_META && act != POLICY_REMOVE && path_is_beneath(g->path, path)))
			*b = builtin_says(POLICY_ASK, g->reason, path_depth(g->path), false);
	}
}

static bool has_component(const char *path, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = path; (at = strstr(at, name)); at++)
		if (at > path && at[-1] == '/' && (at[n] == '/' || at[n] == '\0'))
			return true;
	return false;
}

/* Returns the folded path, valid until the next call. */
static const char *fold(const struct policy *p, const char *path)
{
	struct buf *scratch = &((struct policy *)(uintptr_t)p)->scratch;

	buf_clear(scratch);
	names_fold_path(scratch, path);
	return scratch->data;
}

/* Checks what a path in a working folder is by its name. */
static void check_names(const struct policy *p, enum policy_act act, const char *path,
			struct builtin *b)
{
	const char *folded, *leaf;

	if (!protect_is_candidate(path))
		return;
	folded = fold(p, path);
	leaf = strrchr(folded, '/');
	if (has_component(folded, ".cordon"))
		*b = builtin_says(POLICY_HIDE, "it is an undo store of cordon's", 0, true);
	else if (leaf && act != POLICY_MKDIR && policy_name_is_secret(p, leaf + 1))
		*b = builtin_says(POLICY_HIDE, secret_reason, path_depth(path), false);
	else
		protect_check(act, folded, path_base(path), git_dirs_known(p, path) != NULL, b);
	/* A character decomposes into a slash, so the components do not match. */
	if (path_depth(folded) != path_depth(path))
		b->depth = UINT_MAX;
}

/* Checks paths in git directories that have other names. */
static void check_git_dir(const struct policy *p, enum policy_act act, const char *path,
			  struct builtin *b)
{
	const char *rest = git_dirs_find(p, path), *reason;
	enum policy_verdict v;

	if (!rest)
		return;
	v = git_path_check(act, rest, &reason);
	/* Without a HEAD it is a plain directory, whose config any process may write. */
	if (v == POLICY_ALLOW && str_eq(rest, "head") &&
	    (act == POLICY_REMOVE || act == POLICY_RENAME_FROM))
		v = POLICY_ASK;
	if (v > b->verdict)
		*b = builtin_says(v, reason, path_depth(path), false);
}

enum policy_content policy_content(const struct policy *p, const char *path)
{
	enum policy_content found = protect_content(fold(p, path));
	const char *rest = found == CONTENT_NONE ? git_dirs_find(p, path) : NULL;

	return rest ? git_path_content(rest) : found;
}

bool policy_minds_type(const struct policy *p, const char *path)
{
	return protect_is_candidate(path) || git_dirs_find(p, path);
}

bool policy_minds_pipe(const struct policy *p, const char *path)
{
	return has_component(fold(p, path), ".git") || git_dirs_find(p, path);
}

/* Returns whether the target is an interpreter of the host, by no link of a working folder, or the
 * one beside the link. */
bool policy_vet_link(const struct policy *p, const char *path, const char *target)
{
	AUTO_FREE char *dir = path_dir(path);
	AUTO_FREE char *joined = path_join(dir, target);
	AUTO_FREE char *real = NULL;
	const char *reason;
	struct stat st;
	bool inside;

	if (!str_starts(path_base(target), "python") && !str_starts(path_base(target), "pypy"))
		return false;
	if (!strchr(target, '/'))
		return true; /* protected like this one */
	if (*target != '/' ||
	    links_follow(joined, (const char *const *)p->folders.list, &real, &inside) < 0 ||
	    inside || stat(real, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	return (str_starts(path_base(real), "python") || str_starts(path_base(real), "pypy")) &&
	       !places_cover(&p->folders, real) && !gated_trees_are_private(real) &&
	       policy_check_outside(p, POLICY_WRITE, real, &reason) != POLICY_ALLOW;
}

struct builtin check_builtin_write(const struct policy *p, enum policy_act act, const char *path)
{
	struct builtin b = {.verdict = POLICY_ALLOW};
	const char *below, *hidden;

	if (find_hidden(p, path, p->n_builtin, p->n_set) ||
	    ((act == POLICY_RENAME_FROM || act == POLICY_RENAME_TO) && holds_hidden(p, path)))
		return builtin_says(POLICY_HIDE, hidden_reason, 0, true);
	below = path_below(path, p->home);
	hidden = below && *below == '.' ? find_hidden(p, path, 0, p->n_builtin) : NULL;
	if (hidden)
		return builtin_says(POLICY_HIDE, hidden_reason, path_depth(hidden), false);
	check_names(p, act, path, &b);
	check_git_dir(p, act, path, &b);
	if (b.verdict == POLICY_ALLOW && p->n_guarded)
		check_guarded(p, act, path, &b);
	worktrees_check(p, path, &b);
	return b;
}

enum policy_verdict verdict_of_rule(enum rule_verdict v)
{
	static const enum policy_verdict verdicts[] = {[RULE_ALLOW] = POLICY_ALLOW,
						       [RULE_ASK] = POLICY_ASK,
						       [RULE_DENY] = POLICY_DENY,
						       [RULE_HIDE] = POLICY_HIDE};

	return verdicts[v];
}

/* Returns whether this rule may loosen the built-in protection. An answer was given to this
 * question, and covers what the user was told. Hidden files are never asked about. */
bool check_builtin_gives_way(const struct builtin *b, const struct rule_match *m)
{
	if (b->final)
		return false;
	return m->depth >= b->depth ||
	       (m->rule->of->level == LEVEL_SESSION && b->verdict != POLICY_HIDE);
}

/* Applies a rule that loosens the built-in protection, except for a protected place that is deeper
 * than the rule's path. */
static enum policy_verdict loosened(enum policy_verdict said, const struct builtin *b,
				    const struct rule_match *m, const char **ret_reason)
{
	const struct inner *in = &b->inner;

	if (in->verdict <= said || m->depth >= in->depth || m->rule->of->level == LEVEL_SESSION)
		return said;
	*ret_reason = in->reason;
	return in->verdict;
}

/* Combines the rules with the built-in protection. */
static enum policy_verdict combine(const struct policy *p, enum rule_kind kind, const char *path,
				   const struct builtin *b, const char **ret_reason)
{
	enum policy_verdict v = b->verdict, said;
	struct rule_match m;
	int64_t now;

	*ret_reason = b->reason;
	if (!rules_of(p->rules, kind) && !rules_of(p->untrusted, kind))
		return v;
	now = policy_now();
	if (rules_decide(p->rules, kind, path, now, &m)) {
		said = verdict_of_rule(m.rule->verdict);
		if (said > v || (said < v && check_builtin_gives_way(b, &m)) ||
		    (said == v && said != POLICY_ALLOW && (!b->reason || m.rule->of->reason))) {
			*ret_reason = rules_words(p->rules, m.rule);
			v = said < v ? loosened(said, b, &m, ret_reason) : said;
		}
	}
	if (rules_decide(p->untrusted, kind, path, now, &m) &&
	    verdict_of_rule(m.rule->verdict) > v) {
		v = verdict_of_rule(m.rule->verdict);
		*ret_reason = rules_words(p->untrusted, m.rule);
	}
	return v;
}

/* Judges a rename of a directory by the rules about paths below it: the files would get names
 * without rules. */
static enum policy_verdict carried(const struct policy *p, enum policy_act act, const char *path)
{
	if (act != POLICY_RENAME_FROM && act != POLICY_RENAME_TO)
		return POLICY_ALLOW;
	return verdict_of_rule(
		MAX(rules_beneath(p->rules, path), rules_beneath(p->untrusted, path)));
}

/* Returns whether the file must not be read. It cannot be opened for writing either, because a
 * mount hides it inside. */
static bool is_unreadable(const struct policy *p, const char *path, const char **ret_reason)
{
	const struct builtin none = {.verdict = POLICY_ALLOW};

	return (rules_restricting(p->rules, RULE_READ) ||
		rules_restricting(p->untrusted, RULE_READ)) &&
	       combine(p, RULE_READ, path, &none, ret_reason) != POLICY_ALLOW;
}

enum policy_verdict policy_check(const struct policy *p, enum policy_act act, const char *path,
				 const char **ret_reason)
{
	struct builtin b = check_builtin_write(p, act, path);
	enum policy_verdict v, below;

	if (is_unreadable(p, path, ret_reason))
		return POLICY_HIDE;
	v = combine(p, RULE_WRITE, path, &b, ret_reason);
	below = carried(p, act, path);
	if (below <= v)
		return v;
	*ret_reason = "a rule protects something in it";
	return below;
}

bool policy_guards(const struct policy *p, const char *path, mode_t type)
{
	const char *reason;

	if (policy_check(p, POLICY_RENAME_TO, path, &reason) != POLICY_ALLOW)
		return true;
	if ((type && !S_ISLNK(type) && !S_ISDIR(type)) || !policy_minds_type(p, path))
		return false;
	if (!S_ISDIR(type) && policy_check(p, POLICY_SYMLINK, path, &reason) != POLICY_ALLOW)
		return true;
	return !S_ISLNK(type) && policy_check(p, POLICY_DIR_TO, path, &reason) != POLICY_ALLOW;
}

struct builtin check_builtin_outside(const struct policy *p, const char *path)
{
	static const char *const beyond = policy_ungranted;
	static const char system[] = "it belongs to the system";
	const char *hidden = find_hidden(p, path, 0, p->n_builtin);

	if (find_hidden(p, path, p->n_builtin, p->n_set))
		return builtin_says(POLICY_HIDE, hidden_reason, 0, true);
	if (hidden)
		return builtin_says(POLICY_HIDE, hidden_reason, path_depth(hidden), false);
	if (path_is_beneath(path, p->home) && !str_eq(p->home, "/"))
		return builtin_says(POLICY_ASK, beyond, 0, false);
	if (!strchr(path + 1, '/')) /* a new entry of / */
		return builtin_says(POLICY_DENY, system, 1, false);
	for (size_t i = 0; i < ARRAY_LEN(system_trees); i++)
		if (path_is_beneath(path, system_trees[i]))
			return builtin_says(POLICY_DENY, system, 1, false);
	if (path_is_beneath(path, "/root")) /* it is not the user's, or $HOME would cover it */
		return builtin_says(POLICY_DENY, system, 1, false);
	return builtin_says(POLICY_ASK, beyond, 0, false);
}

bool check_each_write(const struct policy *p, bool profiles, check_each each, void *data)
{
	const int64_t now = policy_now();
	AUTO_BUF struct buf text = BUF_INIT;

	for (uint32_t i = 0; i < rules_count(p->rules); i++) {
		const struct rule *rule = rules_at(p->rules, i);

		if (!rule || rule->verdict != RULE_ALLOW || !(rule->kinds & 1u << RULE_WRITE) ||
		    (rule->of->until && rule->of->until <= now) ||
		    (profiles && rule->of->level != LEVEL_PROFILE))
			continue;
		for (uint32_t at = 0; (at = rules_next(p->rules, i, at));) {
			rules_text(p->rules, at, &text);
			if (each(data, text.data))
				return true;
		}
	}
	return false;
}

static bool begins_with(void *way, const char *pattern)
{
	return str_starts(pattern, way);
}

bool check_leads_to_writes(const struct policy *p, const char *path, bool profiles)
{
	AUTO_BUF struct buf way = BUF_INIT;

	glob_quote(&way, path);
	buf_ch(&way, '/');
	return check_each_write(p, profiles, begins_with, way.data);
}

/* Judges a symbolic link by a write below it: the link gives such paths to files elsewhere. */
static enum policy_verdict linked(const struct policy *p, const char *path, const char **ret_reason)
{
	AUTO_FREE char *beneath = path_join(path, "any");
	struct builtin b = check_builtin_outside(p, beneath);

	return combine(p, RULE_WRITE, beneath, &b, ret_reason);
}

enum policy_verdict policy_check_outside(const struct policy *p, enum policy_act act,
					 const char *path, const char **ret_reason)
{
	struct builtin b = check_builtin_outside(p, path);
	enum policy_verdict v, below = POLICY_ALLOW;
	const char *reason = NULL;

	check_kept(p, act, path, &b);
	/* Granted paths below the directory need it. */
	if (act == POLICY_MKDIR && b.verdict == POLICY_ASK && check_leads_to_writes(p, path, false))
		b = (struct builtin){.verdict = POLICY_ALLOW};
	v = combine(p, RULE_WRITE, path, &b, ret_reason);
	if (v == POLICY_ALLOW && act == POLICY_SYMLINK)
		below = linked(p, path, &reason);
	if (below <= v)
		return v;
	*ret_reason = reason;
	return below;
}

/* ---- reading --------------------------------------------------------------------------------- */

static const char *words_of_socket(const char *path)
{
	const char *words = sockets_words(path);

	return words ? words : "a program of the host listens there";
}

struct builtin check_builtin_read(const struct policy *p, enum rule_kind kind, const char *path)
{
	const char *hidden = find_hidden(p, path, 0, p->n_builtin);
	bool secret = policy_name_is_secret(p, path_base(path));
	const char *gate = NULL;

	if (find_hidden(p, path, p->n_builtin, p->n_set))
		return builtin_says(POLICY_HIDE, hidden_reason, 0, true);
	if (hidden)
		return builtin_says(POLICY_HIDE, hidden_reason, path_depth(hidden), false);
	if (protect_is_candidate(path) && has_component(fold(p, path), ".cordon"))
		return builtin_says(POLICY_HIDE, "it is an undo store of cordon's", 0, true);
	if (kind == RULE_UNIX)
		return builtin_says(POLICY_ASK, words_of_socket(path), 0, false);
	if (secret && places_cover(&p->shown, path))
		return builtin_says(POLICY_HIDE, secret_reason, path_depth(path), false);
	if (places_cover(&p->folders, path))
		return secret ? builtin_says(POLICY_HIDE, secret_reason, path_depth(path), false)
			      : (struct builtin){.verdict = POLICY_ALLOW};
	for (size_t i = 0; i < p->closed.n; i++)
		if (path_is_beneath(path, p->closed.list[i]))
			return builtin_says(POLICY_HIDE, closed_reason,
					    path_depth(p->closed.list[i]), false);
	for (size_t i = 0; i < p->gated.n; i++)
		if (path_is_beneath(path, p->gated.list[i]))
			gate = p->gated.list[i];
	if (!gate || places_cover(&p->usual, path))
		return (struct builtin){.verdict = POLICY_ALLOW};
	return builtin_says(POLICY_ASK, secret ? secret_reason : policy_ungranted, path_depth(gate),
			    false);
}

enum policy_verdict policy_check_read(const struct policy *p, enum rule_kind kind, const char *path,
				      const char **ret_reason)
{
	struct builtin b = check_builtin_read(p, kind, path);

	return combine(p, kind, path, &b, ret_reason);
}
