/* section_dangerous - names in a profile: files that the host runs or obeys, and secrets. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "backends/macos/profile/profile_priv.h"
#include "backends/macos/profile/regex.h"
#include "core/base/path.h"

/*
 * Matches characters that let a name lead to a protected name: HFS+ ignores invisible characters,
 * some programs treat full-width letters as plain ones. Names of ASCII and such characters alone
 * are denied.
 */
#define PLAIN "[ -.0-~]"
#define ALIAS                                                                                      \
	"(\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf|\xc2\xad|\xe2\x84\xaa|"    \
	"\xc5\xbf|\xef\xac[\x80-\x86]|\xef\xbc[\x8d\x8e\xa1-\xba\xbf]|\xef\xbd[\x81-\x9a])"

/* Paths below a Mac's home, besides policy.h's list. Existing ones are closed. */
static const char *const mac_secrets[] = {
	"Library/Accounts",
	"Library/Application Support/1Password",
	"Library/Application Support/AddressBook",
	"Library/Application Support/BraveSoftware",
	"Library/Application Support/Firefox",
	"Library/Application Support/Google/Chrome",
	"Library/Application Support/Microsoft Edge",
	"Library/Application Support/Signal",
	"Library/Application Support/Slack",
	"Library/Application Support/com.apple.TCC",
	"Library/Calendars",
	"Library/Containers",
	"Library/Cookies",
	"Library/Group Containers",
	"Library/HTTPStorages",
	"Library/IdentityServices",
	"Library/Keychains",
	"Library/Mail",
	"Library/Messages",
	"Library/Safari",
};

/* The short names of vfat that policy.h protects. */
static const char *const short_names[] = {
	"git",	  "bashrc", "bash_p", "profil", "zshrc", "zshenv", "envrc",  "vscode", "claude",
	"cursor", "codex",  "gemini", "idea",	"husky", "gitcon", "cordon", "mcp",
};

static bool has_roots(const struct build *b)
{
	return b->roots.len > 0;
}

/* Begins an expression with "^ROOTS/(.*[/])?". */
static void begin(struct buf *re, const struct build *b)
{
	buf_clear(re);
	buf_fmt(re, "^%s/(.*/)?", b->roots.data);
}

/* ---- secrets --------------------------------------------------------------------------------- */

static void put_env(struct build *b)
{
	AUTO_BUF struct buf re = BUF_INIT;

	sbpl_open(b->s, "require-all");
	begin(&re, b);
	buf_str(&re, "(");
	regex_name(&re, ".env", 4);
	buf_str(&re, "(\\.[^/]*)?|");
	regex_name(&re, "env", 3);
	buf_fmt(&re, "~[1-9][^/]*)%s$", regex_tail);
	sbpl_regex(b->s, re.data);
	sbpl_open(b->s, "require-not");
	sbpl_regex(b->s, "\\.(example|sample|template|dist|defaults|schema)$");
	sbpl_close(b->s);
	sbpl_close(b->s);
}

void section_secrets(struct build *b)
{
	if (!has_roots(b))
		return;
	sbpl_comment(b->s, "Secrets by name: .env, .env.local");
	sbpl_deny(b->s, OPS_CONTENT " process-exec* " OPS_WRITE);
	put_env(b);
	sbpl_end(b->s);
}

/* ---- names that the host runs or obeys ------------------------------------------------------- */

/* Appends one name of the list. After "lefthook.*" any ending matches. */
static void put_one_name(struct buf *re, const char *name)
{
	size_t n = strlen(name);
	bool more = n > 1 && name[n - 1] == '*';

	regex_name(re, name, n - more);
	buf_str(re, more ? "[^/]*" : "");
}

/* The groups of names that share an expression. */
enum group {
	GROUP_FILES,	 /* a file of that name */
	GROUP_KEPT_FILE, /* that must not be removed either */
	GROUP_WHOLE,	 /* a directory of that name and its content */
	GROUP_KEPT_WHOLE,
};

static bool is_of(const struct policy_name *n, enum group g)
{
	switch (g) {
	case GROUP_FILES:
		return !n->below;
	case GROUP_KEPT_FILE:
		return !n->below && n->keep;
	case GROUP_WHOLE:
		return n->below && !*n->below;
	case GROUP_KEPT_WHOLE:
		return n->below && !*n->below && n->keep;
	}
	return false;
}

static void put_group(struct build *b, enum group g)
{
	AUTO_BUF struct buf re = BUF_INIT;
	struct policy_name n;
	char sep = '(';

	begin(&re, b);
	for (size_t i = 0; policy_name_at(i, &n); i++) {
		if (!is_of(&n, g))
			continue;
		buf_ch(&re, sep);
		put_one_name(&re, n.name);
		sep = '|';
	}
	buf_fmt(&re, ")%s%s$", regex_tail,
		g == GROUP_WHOLE || g == GROUP_KEPT_WHOLE ? "(/.*)?" : "");
	if (sep == '|')
		sbpl_regex(b->s, re.data);
}

/* Appends "a/b" as a, a/b and everything beneath. A component "a*" or "*" matches all names that
 * begin so. */
static void put_below(struct buf *re, const char *want, size_t n)
{
	size_t open = 0;

	for (size_t at = 0; at < n;) {
		size_t end = at;
		bool star;

		while (end < n && want[end] != '/')
			end++;
		star = end > at && want[end - 1] == '*';
		if (at)
			buf_str(re, "(/");
		open += at > 0;
		regex_name(re, want + at, end - at - star);
		buf_str(re, star ? "[^/]*" : regex_tail);
		at = end + 1;
	}
	buf_str(re, "(/.*)?");
	while (open--)
		buf_str(re, ")?");
}

/* Protects the listed paths of a directory of this name. itself: also the directory, because a
 * rename of it would move them. */
static void put_tree(struct build *b, const struct policy_name *t, bool itself)
{
	AUTO_BUF struct buf re = BUF_INIT;
	char sep = '(';

	begin(&re, b);
	put_one_name(&re, t->name);
	buf_fmt(&re, "%s%s/", regex_tail, itself ? "(" : "");
	for (const char *want = t->below; *want;) {
		size_t n = strcspn(want, " ");

		buf_ch(&re, sep);
		put_below(&re, want, n);
		sep = '|';
		want += n + (want[n] == ' ');
	}
	buf_fmt(&re, ")%s$", itself ? ")?" : "");
	sbpl_regex(b->s, re.data);
}

static void put_trees(struct build *b, bool keep)
{
	struct policy_name n;

	for (size_t i = 0; policy_name_at(i, &n); i++)
		if (n.below && *n.below && (!keep || n.keep))
			put_tree(b, &n, !n.plain);
}

/* Protects the names that matter only as a directory or link. */
static void put_plain_trees(struct build *b)
{
	struct policy_name n;

	for (size_t i = 0; policy_name_at(i, &n); i++) {
		AUTO_BUF struct buf re = BUF_INIT;

		if (!n.plain)
			continue;
		begin(&re, b);
		put_one_name(&re, n.name);
		buf_fmt(&re, "%s$", regex_tail);
		sbpl_open(b->s, "require-all");
		sbpl_regex(b->s, re.data);
		sbpl_open(b->s, "require-any");
		sbpl_word(b->s, "vnode-type", "DIRECTORY");
		sbpl_word(b->s, "vnode-type", "SYMLINK");
		sbpl_close(b->s);
		sbpl_close(b->s);
	}
}

/* Protects names that no list has: files that make a directory a git repository, notebooks,
 * workspaces, short names. */
static void put_shapes(struct build *b)
{
	AUTO_BUF struct buf re = BUF_INIT;

	begin(&re, b);
	buf_ch(&re, '(');
	regex_name(&re, "HEAD", 4);
	buf_str(&re, "|[^/]*(");
	regex_name(&re, ".code-workspace", 15);
	buf_ch(&re, '|');
	regex_name(&re, ".sublime-project", 16);
	buf_str(&re, ")|");
	regex_name(&re, "jupyter_", 8);
	buf_str(&re, "[^/]*");
	regex_name(&re, "config", 6);
	buf_str(&re, "\\.(");
	regex_name(&re, "py", 2);
	buf_ch(&re, '|');
	regex_name(&re, "json", 4);
	buf_fmt(&re, "))%s$", regex_tail);
	sbpl_regex(b->s, re.data);
	begin(&re, b);
	for (size_t i = 0; i < ARRAY_LEN(short_names); i++) {
		buf_ch(&re, i ? '|' : '(');
		regex_name(&re, short_names[i], strlen(short_names[i]));
	}
	buf_str(&re, ")~[1-9][^/]*(/.*)?$");
	sbpl_regex(b->s, re.data);
}

/* Protects git directories: those of the policy, and directories named *.git. */
static void put_git(struct build *b)
{
	AUTO_BUF struct buf re = BUF_INIT;
	const char *const *dirs;
	size_t n = policy_git_dirs(b->policy, &dirs);

	begin(&re, b);
	buf_str(&re, "[^/]*");
	regex_name(&re, ".git", 4);
	buf_fmt(&re, "%s(/.*)?$", regex_tail);
	sbpl_regex(b->s, re.data);
	for (size_t i = 0; i < n; i++)
		sbpl_subpath(b->s, dirs[i]);
}

static void put_guarded(struct build *b)
{
	const char *path;

	for (size_t i = 0; (path = policy_guarded_at(b->policy, i)); i++)
		sbpl_subpath(b->s, path);
}

void section_dangerous(struct build *b)
{
	AUTO_BUF struct buf re = BUF_INIT;

	if (b->spec->gate || !has_roots(b))
		return;
	sbpl_comment(b->s,
		     "Files that the host runs or obeys later: not put in place, not changed");
	sbpl_deny(b->s, OPS_PLACE);
	put_group(b, GROUP_FILES);
	put_group(b, GROUP_WHOLE);
	put_trees(b, false);
	put_plain_trees(b);
	put_shapes(b);
	begin(&re, b);
	buf_str(&re, PLAIN "*" ALIAS "(" PLAIN "|" ALIAS ")*(/.*)?$");
	sbpl_regex(b->s, re.data);
	sbpl_end(b->s);
	sbpl_deny(b->s, "file-write-unlink");
	put_group(b, GROUP_KEPT_FILE);
	put_group(b, GROUP_KEPT_WHOLE);
	put_trees(b, true);
	sbpl_end(b->s);
	sbpl_comment(b->s, "git directories, and what learning found: read only");
	sbpl_deny(b->s, OPS_WRITE);
	put_git(b);
	put_guarded(b);
	sbpl_end(b->s);
}

/* ---- hidden ---------------------------------------------------------------------------------- */

void section_hidden(struct build *b)
{
	const char *const *list;
	size_t n_uncoverable, n_final;
	AUTO_BUF struct buf re = BUF_INIT;

	policy_hidden(b->policy, &list);
	policy_hidden_parts(b->policy, &n_uncoverable, &n_final);
	sbpl_comment(b->s, "Hidden, whatever rules say; all disks once more, by another name");
	sbpl_deny(b->s, "file-read* process-exec* " OPS_WRITE);
	sbpl_subpath(b->s, "/System/Volumes/Data");
	for (size_t i = n_uncoverable; i < n_final; i++)
		sbpl_subpath(b->s, list[i]);
	for (size_t i = 0; i < ARRAY_LEN(mac_secrets); i++) {
		AUTO_FREE char *path = path_join(b->spec->home, mac_secrets[i]);

		sbpl_subpath(b->s, path);
	}
	buf_str(&re, "^/(.*/)?");
	regex_name(&re, ".cordon", 7);
	buf_fmt(&re, "%s(/.*)?$", regex_tail);
	sbpl_regex(b->s, re.data);
	sbpl_end(b->s);
}
