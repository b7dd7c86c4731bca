/* answers - describes answers in words, and refuses answers that would allow too much. */
/* SPDX-License-Identifier: MIT */
#include "core/session/answers/answers.h"

#include <string.h>
#include <time.h>

#include "core/base/path.h"
#include "core/policy/rules/rules.h"

static const char *const scopes[] = {
	[SCOPE_ONCE] = "once",	     [SCOPE_STEP] = "step", [SCOPE_SESSION] = "session",
	[SCOPE_PROJECT] = "project", [SCOPE_USER] = "user", [SCOPE_ORG] = "org",
};

static const char *const extents[] = {[EXTENT_EXACT] = "exact",
				      [EXTENT_DIR] = "dir",
				      [EXTENT_TREE] = "tree",
				      [EXTENT_BUNDLE] = "bundle"};

static int find(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(list[i], name))
			return (int)i;
	return -1;
}

const char *answers_scope_name(enum answer_scope scope)
{
	return scopes[scope];
}

const char *answers_extent_name(enum answer_extent extent)
{
	return extents[extent];
}

int answers_find_scope(const char *name)
{
	return find(scopes, ARRAY_LEN(scopes), name);
}

int answers_find_extent(const char *name)
{
	return find(extents, ARRAY_LEN(extents), name);
}

struct word {
	const char *op, *word;
};

static const char *word_of(const struct word *list, size_t n, const char *op)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(op, list[i].op))
			return list[i].word;
	return NULL;
}

const char *answers_op(const char *op)
{
	static const struct word words[] = {
		{"open", "write"},	   {"openat", "write"},	   {"openat2", "write"},
		{"creat", "write"},	   {"unlink", "delete"},   {"unlinkat", "delete"},
		{"rmdir", "delete"},	   {"mkdirat", "mkdir"},   {"renameat", "rename"},
		{"renameat2", "rename"},   {"linkat", "link"},	   {"symlinkat", "symlink"},
		{"mknodat", "mknod"},	   {"fchmod", "chmod"},	   {"fchmodat", "chmod"},
		{"fchmodat2", "chmod"},	   {"fchown", "chown"},	   {"lchown", "chown"},
		{"fchownat", "chown"},	   {"utimensat", "utime"}, {"futimesat", "utime"},
		{"ftruncate", "truncate"}, {"exec", "run"},
	};
	const char *word = word_of(words, ARRAY_LEN(words), op);

	return word ? word : op;
}

const char *answers_wish(const char *op)
{
	static const struct word wishes[] = {
		{"mkdir", "create the folder"},
		{"rmdir", "delete the folder"},
		{"symlink", "make the link"},
		{"link", "make the hard link"},
		{"mknod", "make the special file"},
		{"chmod", "change the mode of"},
		{"chown", "change the owner of"},
		{"utime", "set the times of"},
		{"connect", "connect to"},
		{"credentials", "use your git credentials for"},
		{"sign", "sign in with your SSH key at"},
	};
	const char *word = answers_op(op), *wish = NULL;

	if (!str_eq(op, "rmdir"))
		op = word;
	wish = word_of(wishes, ARRAY_LEN(wishes), op);
	return wish ? wish : word;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Returns "registry.npmjs.org:443", "registry.npmjs.org" or "npmjs.org:443". */
static char *host_object(const struct ask *ask, enum answer_extent extent)
{
	char *patterns[2];

	answer_host_patterns(ask->path, extent, patterns);
	free(patterns[1]);
	return patterns[0] ? patterns[0] : xstrdup(ask->path);
}

char *answers_object(const struct ask *ask, const struct answer *a)
{
	AUTO_FREE char *object = answer_object(ask->path, ask->is_dir, a);

	if (ask->kind >= RULE_PLACES)
		return host_object(ask, a->extent);
	if (a->extent == EXTENT_EXACT || a->extent == EXTENT_BUNDLE || !strchr(object, '/'))
		return xstrdup(ask->path);
	return path_dir(object);
}

static void add_until(struct buf *out, int64_t until)
{
	time_t t = (time_t)until, now = time(NULL);
	struct tm tm;
	char text[40];

	localtime_r(&t, &tm);
	strftime(text, sizeof(text), until - now < 86400 ? "%H:%M" : "%Y-%m-%d %H:%M", &tm);
	buf_fmt(out, ", until %s", text);
}

static void held_words(struct buf *out, const struct guard_report *held, const struct answer *a)
{
	if (!a->allow)
		buf_str(out, "deny: end the step and roll it back");
	else if (held->what == LOSS_BEYOND)
		buf_str(out, a->scope == SCOPE_SESSION
				     ? "allow the rest of the step, without undo"
				     : "allow the rest of the step, undo keeps all of it");
	else if (a->scope == SCOPE_SESSION)
		buf_fmt(out, "allow this command line to %s more, for this session: %.200s",
			guard_verb(held->what), held->command);
	else
		buf_str(out, "allow the rest of the step");
}

void answers_words(struct buf *out, const struct model *m, const struct ask *ask,
		   const struct answer *a)
{
	static const char *const span[] = {
		[SCOPE_ONCE] = " once",
		[SCOPE_STEP] = ", for this step",
		[SCOPE_SESSION] = ", for this session",
		[SCOPE_PROJECT] = ", in all sessions in this folder",
		[SCOPE_USER] = ", in all your sessions",
		[SCOPE_ORG] = ", in everybody's sessions here",
	};
	AUTO_FREE char *object = answers_object(ask, a);
	const char *below = m->home ? path_below(object, m->home) : NULL;
	bool lists = ask->kind == RULE_READ && ask->is_dir;

	if (ask->held) {
		held_words(out, ask->held, a);
		return;
	}
	if (a->extent == EXTENT_BUNDLE) {
		buf_fmt(out, "%s writing all of %s%s", a->allow ? "allow" : "deny", ask->bundle,
			span[a->scope]);
		return;
	}
	buf_fmt(out, "%s %s ", a->allow ? "allow" : "deny",
		lists && a->extent == EXTENT_EXACT ? "listing" : rule_kind_gerunds[ask->kind]);
	if (ask->kind >= RULE_PLACES) {
		buf_fmt(out, "%s%s%s%s", a->extent == EXTENT_TREE ? "every host of " : "", object,
			a->extent == EXTENT_DIR ? " at any port" : "", span[a->scope]);
		if (a->until)
			add_until(out, a->until);
		return;
	}
	if (a->extent == EXTENT_DIR)
		buf_str(out, "what lies in ");
	else if (a->extent == EXTENT_TREE)
		buf_str(out, "everything in ");
	if (below)
		buf_fmt(out, "~%s%s", *below ? "/" : "", below);
	else
		buf_str(out, object);
	if (a->extent == EXTENT_TREE)
		buf_str(out, " and below");
	buf_str(out, span[a->scope]);
	if (a->until)
		add_until(out, a->until);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static bool has_name(const char *path, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = path; (at = strstr(at, name)); at++)
		if (at > path && at[-1] == '/' && (at[n] == '/' || !at[n]))
			return true;
	return false;
}

/* Returns whether the path has a directory of secrets, at any place, or of cordon. */
static bool holds_secrets(const char *dir)
{
	static const char *const names[] = {
		".ssh",		 ".gnupg",    ".aws",	      ".azure",
		".kube",	 ".docker",   ".cordon",      "cordon",
		"gcloud",	 "keyrings",  ".pki",	      ".mozilla",
		"google-chrome", "chromium",  ".thunderbird", ".password-store",
		"1Password",	 "Bitwarden", ".local/state", "secrets",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (has_name(dir, names[i]))
			return true;
	return false;
}

/* Returns whether dir holds all of a user's settings or data, like the home folder itself. */
static bool is_whole(const struct model *m, const char *dir)
{
	static const char *const wide[] = {"",	      ".config", ".local", ".local/share", ".cache",
					   "Library", "snap",	 ".var",   ".var/app"};
	static const char *const system_wide[] = {"/",	  "/home",  "/root", "/opt", "/srv",
						  "/mnt", "/media", "/usr",  "/etc", "/var"};
	const char *below = m->home ? path_below(dir, m->home) : NULL;

	for (size_t i = 0; below && i < ARRAY_LEN(wide); i++)
		if (str_eq(below, wide[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(system_wide); i++)
		if (str_eq(dir, system_wide[i]))
			return true;
	return (m->home && path_is_beneath(m->home, dir)) ||
	       (str_starts(dir, "/home/") && !strchr(dir + 6, '/'));
}

static const char *refuse_held(const struct answer *a)
{
	if (a->extent != EXTENT_EXACT || (a->scope != SCOPE_ONCE && a->scope != SCOPE_SESSION))
		return "a held step can be answered for once or session, with extent exact";
	return a->until ? "an answer to a held step takes no time: leave it out" : NULL;
}

static const char *refuse_bundle(const struct ask *ask, const struct answer *a)
{
	if (!ask->bundle || !*ask->bundle)
		return "the file is in no bundle of a program's own files: allow exactly what is "
		       "asked";
	if (a->scope != SCOPE_SESSION && a->scope != SCOPE_USER)
		return "a bundle of a program's own files is answered for session or user";
	if (a->scope == SCOPE_USER && (a->until || !a->allow))
		return "a bundle of a program's own files can only be allowed, without a time";
	return NULL;
}

/* Refuses an answer for a domain where the host has none of its own. */
static const char *refuse_host(const struct ask *ask, const struct answer *a)
{
	bool none = (a->extent == EXTENT_DIR && ask->no_dir) ||
		    (a->extent == EXTENT_TREE && ask->no_tree) || a->extent == EXTENT_BUNDLE ||
		    a->up;

	return none ? "that host has no domain of its own, or is a private address: answer for "
		      "exactly this"
		    : NULL;
}

const char *answers_refusal(const struct model *m, const struct ask *ask, const struct answer *a)
{
	AUTO_FREE char *object = answers_object(ask, a);

	if (ask->held)
		return refuse_held(a);
	if (a->scope == SCOPE_ONCE && a->extent != EXTENT_EXACT)
		return "an answer for once covers exactly this request: choose a longer scope for "
		       "more";
	if (a->scope == SCOPE_ONCE && a->until)
		return "an answer for once takes no time: choose a longer scope, or leave the time "
		       "out";
	if (ask->own && (a->scope > SCOPE_SESSION || a->extent == EXTENT_BUNDLE))
		return "a request to act outside the sandbox is answered for once or session";
	if (a->scope > SCOPE_SESSION && !m->persists)
		return "no settings can be written here: answer for the session at the most";
	if (a->scope == SCOPE_STEP && !ask->has_step)
		return "it belongs to no step of its own: answer once or for the session";
	if (ask->kind >= RULE_KEYS && a->extent != EXTENT_EXACT)
		return "your keys are used at one host at a time: answer for exactly this";
	if (ask->kind >= RULE_PLACES)
		return refuse_host(ask, a);
	if (a->extent == EXTENT_BUNDLE)
		return refuse_bundle(ask, a);
	if (a->up && (a->extent != EXTENT_TREE || a->up > ask->up))
		return "that would open a home, a disk or a hidden place: allow less";
	if (!a->allow || a->extent == EXTENT_EXACT)
		return NULL;
	if (is_whole(m, object) || (a->extent == EXTENT_DIR ? ask->no_dir : ask->no_tree))
		return "that would open a home, a system tree or a hidden place: allow less";
	if (holds_secrets(object))
		return "secrets or cordon's own files are kept there: allow exactly what is asked";
	return NULL;
}
