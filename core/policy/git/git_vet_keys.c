/* git_vet_keys - the git settings that cannot make git run, read or reach anything new. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/policy/policy_priv.h"

/*
 * All other keys are not inert, among others core.{fsmonitor (except false),hooksPath,pager,
 * editor,sshCommand,gitProxy,askPass,attributesFile}, alias.*, filter.*, diff.*, merge.*.driver,
 * include*, credential.*, gpg.*, url.*, protocol.*, *.uploadpack, gc.recentObjectsHook,
 * submodule.*.update. Nor are keys that lose or leak data: remote.*.mirror, remote.*.promisor,
 * gc.*expire, core.protectNTFS. git_vet_remotes.c judges keys that do so only for a remote of the
 * user: prune, push.default, a fetch that writes refs of another remote.
 */
enum value {
	PLAIN,	  /* a word: letters, digits, blanks and . , - _ / * + : ^ @ */
	WORD,	  /* letters and digits: newer versions of git take a path */
	FETCH,	  /* a refspec that writes only remote-tracking refs */
	PUSH,	  /* a refspec that neither forces nor deletes */
	FALSE,	  /* only false */
	WORKTREE, /* a path: see vet_git_worktree() */
	URL,	  /* an address without a transport helper or option in it */
	REMOTE,	  /* a remote's name, or a URL */
	ANY_TEXT, /* only shown to users */
};

static const struct inert {
	const char *section;
	bool sub; /* the section has a subsection */
	enum value value;
	const char *names; /* each between blanks */
} table[] = {
	{"core", false, PLAIN,
	 " repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode "
	 "symlinks autocrlf eol safecrlf quotepath abbrev compression loosecompression "
	 "bigfilethreshold preloadindex untrackedcache trustctime checkstat "
	 "commitgraph multipackindex sparsecheckout sparsecheckoutcone deltabasecachelimit "
	 "packedgitlimit packedgitwindowsize splitindex longpaths fscache "
	 "createobject fsync fsyncmethod warnambiguousrefs "},
	{"core", false, FALSE, " fsmonitor "},
	{"core", false, WORKTREE, " worktree "},
	{"user", false, ANY_TEXT, " name email useconfigonly "},
	{"author", false, ANY_TEXT, " name email "},
	{"committer", false, ANY_TEXT, " name email "},
	{"init", false, PLAIN, " defaultbranch defaultobjectformat "},
	{"remote", true, URL, " url pushurl "},
	{"remote", true, FETCH, " fetch "},
	{"remote", true, PLAIN, " tagopt prune prunetags skipdefaultupdate skipfetchall "},
	{"remote", true, PUSH, " push "},
	{"remote", false, REMOTE, " pushdefault "},
	{"branch", true, REMOTE, " remote pushremote "},
	{"branch", true, PLAIN, " merge rebase "},
	{"branch", true, ANY_TEXT, " description "},
	{"branch", false, PLAIN, " autosetupmerge autosetuprebase sort "},
	{"submodule", true, URL, " url "},
	{"submodule", true, PLAIN, " active branch ignore fetchrecursesubmodules shallow "},
	{"submodule", false, PLAIN, " active recurse fetchjobs "},
	{"extensions", false, PLAIN,
	 " objectformat compatobjectformat noop noop-v1 preciousobjects worktreeconfig "
	 "relativeworktrees "},
	{"extensions", false, WORD, " refstorage "},
	{"gc", false, PLAIN,
	 " auto autodetach autopacklimit bigpackthreshold packrefs aggressivedepth "
	 "aggressivewindow cruftpacks maxcruftsize writecommitgraph "},
	{"maintenance", false, PLAIN, " auto autodetach strategy "},
	{"pack", false, PLAIN,
	 " threads window depth compression windowmemory deltacachesize packsizelimit "
	 "writebitmaps writebitmaphashcache indexversion usesparse "},
	{"repack", false, PLAIN, " usedeltabaseoffset writebitmaps updateserverinfo "},
	{"index", false, PLAIN, " version threads sparse skiphash "},
	{"feature", false, PLAIN, " manyfiles experimental "},
	{"fetch", false, PLAIN,
	 " prune prunetags writecommitgraph parallel recursesubmodules all "},
	{"pull", false, PLAIN, " rebase ff "},
	{"push", false, PLAIN, " default followtags autosetupremote recursesubmodules "},
	{"merge", false, PLAIN, " ff conflictstyle renames renamelimit directoryrenames log stat "},
	{"rebase", false, PLAIN, " autosquash autostash updaterefs stat "},
	{"rerere", false, PLAIN, " enabled autoupdate "},
	{"status", false, PLAIN, " short branch showuntrackedfiles aheadbehind relativepaths "},
	{"log", false, PLAIN, " date decorate abbrevcommit follow "},
	{"commit", false, FALSE, " gpgsign "},
	{"tag", false, FALSE, " gpgsign forcesignannotated "},
	{"color", false, PLAIN, " ui status branch diff interactive grep pager "},
	{"column", false, PLAIN, " ui "},
	{"advice", false, PLAIN, NULL}, /* every name */
	{"http", false, PLAIN, " postbuffer version lowspeedlimit lowspeedtime "},
};

static bool is_plain(const char *s)
{
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr(" .,-_/*+:^@=", *s))
			return false;
	return true;
}

static bool is_word(const char *s)
{
	while (isalnum((unsigned char)*s))
		s++;
	return !*s;
}

/*
 * Returns whether git opens the address itself. "helper::address" runs git-remote-helper, "ext::"
 * any program; a leading "-" where an argument of a program may begin is an option. A scheme that
 * git does not know names a helper.
 */
static bool is_safe_url(const char *s)
{
	static const char *const schemes[] = {"https", "http", "ssh", "git", "file", "git+ssh"};
	const char *colon = strstr(s, "://");

	if (*s == '\0' || *s == '-' || strstr(s, "::") || strstr(s, "://-") || strstr(s, "@-") ||
	    strstr(s, ":-"))
		return false;
	for (const char *c = s; *c; c++)
		if (!isgraph((unsigned char)*c) && *c != ' ')
			return false;
	if (!colon)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if ((size_t)(colon - s) == strlen(schemes[i]) &&
		    strncmp(s, schemes[i], strlen(schemes[i])) == 0)
			return true;
	return false;
}

static bool is_false(const char *s)
{
	return strcasecmp(s, "false") == 0 || strcasecmp(s, "no") == 0 ||
	       strcasecmp(s, "off") == 0 || str_eq(s, "0");
}

/* Elsewhere git would move branches or tags, and with prune remove them. */
static bool is_tracking(const char *refspec)
{
	const char *to = strchr(refspec, ':');

	return is_plain(refspec) && *refspec != '-' && !strstr(refspec, "..") &&
	       (!to || (str_starts(to + 1, "refs/remotes/") && !strchr(to + 1, ':')));
}

static bool value_fits(enum value kind, const char *value)
{
	switch (kind) {
	case FETCH:
		return is_tracking(value);
	case PLAIN:
		return is_plain(value) && *value != '-';
	case WORD:
		return is_word(value);
	case PUSH:
		return is_plain(value) && !strchr("-+:", *value);
	case FALSE:
		return is_false(value);
	case WORKTREE:
		return *value == '/' || (strncmp(value, "../", 3) == 0 && is_plain(value));
	case URL:
	case REMOTE:
		return is_safe_url(value);
	case ANY_TEXT:
		break;
	}
	return true;
}

static bool names_hold(const char *names, const char *name)
{
	size_t n = strlen(name);

	if (!names)
		return true;
	for (const char *at = names; (at = strstr(at, name)); at++)
		if (at > names && at[-1] == ' ' && at[n] == ' ')
			return true;
	return false;
}

bool vet_key_is_inert(const char *section, const char *sub, const char *name, const char *value)
{
	/* The name of a remote, branch or submodule becomes a path or an argument. */
	if (*sub == '-' || strstr(sub, "..") || strstr(sub, "::"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct inert *t = &table[i];

		if (t->sub == (*sub != '\0') && str_eq(t->section, section) &&
		    names_hold(t->names, name))
			return value_fits(t->value, value);
	}
	return false;
}
