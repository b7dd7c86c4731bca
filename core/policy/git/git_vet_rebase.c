/* git_vet_rebase - decides whether the rest of a rebase or cherry-pick runs programs. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "core/policy/policy_priv.h"

/*
 * A line of git-rebase-todo is a command and its arguments; "exec" passes the rest of the line to a
 * shell, at the next `git rebase --continue`. A line that begins with anything but a letter is a
 * comment or an error. `git rebase` itself rewrites the list after each commit, one line shorter:
 * so lines of the old list are allowed.
 */
#define REBASE_MAX_BYTES (4u << 20)
#define REBASE_MAX_OLD	 1000 /* lines of the old list that run programs */

static bool is_harmless(const char *line, size_t len)
{
	static const char *const commands[] = {
		"p",	 "pick",  "r",	   "reword", "e",     "edit",  "s",	     "squash",
		"f",	 "fixup", "d",	   "drop",   "b",     "break", "noop",	     "l",
		"label", "t",	  "reset", "m",	     "merge", "u",     "update-ref", "revert"};
	size_t n = 0;

	if (len == 0 || !isalpha((unsigned char)*line))
		return true;
	while (n < len && (isalpha((unsigned char)line[n]) || line[n] == '-'))
		n++;
	if (n < len && line[n] != ' ' && line[n] != '\t' && line[n] != '\r')
		return false;
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strlen(commands[i]) == n && memcmp(commands[i], line, n) == 0)
			return true;
	return false;
}

/* Gets the next line without leading blanks. Returns false at the end. */
static bool next_line(struct span *text, struct span *ret)
{
	const char *nl;

	if (!text->len)
		return false;
	nl = memchr(text->data, '\n', text->len);
	*ret = (struct span){text->data, nl ? (size_t)(nl - text->data) : text->len};
	text->len -= ret->len + (nl != NULL);
	text->data += ret->len + (nl != NULL);
	while (ret->len && isspace((unsigned char)*ret->data)) {
		ret->data++;
		ret->len--;
	}
	return true;
}

static bool holds(const char *text, size_t len, struct span want)
{
	struct span rest = {text, len}, line;

	while (next_line(&rest, &line))
		if (line.len == want.len && memcmp(line.data, want.data, want.len) == 0)
			return true;
	return false;
}

bool vet_git_rebase(const char *data, size_t len, const char *old, size_t old_len)
{
	struct span rest = {data, len}, line;
	unsigned left = REBASE_MAX_OLD;

	if (len > REBASE_MAX_BYTES || old_len > REBASE_MAX_BYTES || memchr(data, '\0', len))
		return false;
	while (next_line(&rest, &line)) {
		if (is_harmless(line.data, line.len))
			continue;
		if (!old || !left-- || !holds(old, old_len, line))
			return false;
	}
	return true;
}

/* ---- strategies ------------------------------------------------------------------------------ */

static bool is_word(struct span s, const char *word)
{
	return s.len == strlen(word) && memcmp(s.data, word, s.len) == 0;
}

static bool is_strategy(struct span s)
{
	static const char *const own[] = {"ort",     "recursive", "resolve",
					  "octopus", "ours",	  "subtree"};

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (is_word(s, own[i]))
			return true;
	return false;
}

bool vet_git_strategy(const char *data, size_t len)
{
	if (len && data[len - 1] == '\n')
		len--;
	return is_strategy((struct span){data, len});
}

/* Judges one line of sequencer/opts, whose header vet_reader has read. */
static bool is_option(const struct vet_reader *r)
{
	static const char *const plain[] = {"no-commit",
					    "edit",
					    "allow-empty",
					    "allow-empty-message",
					    "keep-redundant-commits",
					    "drop-redundant-commits",
					    "signoff",
					    "record-origin",
					    "allow-ff",
					    "mainline",
					    "strategy-option",
					    "allow-rerere-auto",
					    "default-msg-cleanup"};
	struct span v = vet_value(r, "strategy");

	if (!str_eq(r->section, "options") || *r->sub)
		return false;
	if (v.len)
		return is_strategy(v);
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (vet_value(r, plain[i]).len)
			return true;
	return false;
}

bool vet_git_options(const char *data, size_t len)
{
	struct vet_reader r = vet_reader_of(data, len);
	enum line_kind k;

	if (len >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		return false;
	while ((k = vet_next(&r)) != LINE_NONE) {
		if (k == LINE_BLANK || k == LINE_HEADER)
			continue;
		if (k == LINE_BAD || !is_option(&r))
			return false;
	}
	return true;
}
