/* forget - `cordon log --discard`, `--prune`, `--adopt`: removes history, or takes it over. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/forget.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/config/config.h"
#include "core/journal/journal.h"
#include "core/session/folders.h"
#include "tui/commands/show.h"
#include "tui/commands/here.h"

#define DAY_US ((int64_t)86400 * 1000000)

/* Asks the user to type a word (what). */
static int confirm(const struct here *p, const char *what, const char *words, struct err *err)
{
	char line[32] = "";
	size_t len = strlen(what);

	if (!isatty(STDIN_FILENO))
		return err_say(err, -EPERM,
			       "%s the history of %s: nobody to ask: add --yes if you mean it",
			       what, p->folder);
	printf("%s of %s will be gone for good. Type %s to go on: ", words, p->folder, what);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin) || strncmp(line, what, len) != 0 ||
	    !str_eq(line + len, "\n"))
		return err_say(err, -ECANCELED, "%s: not confirmed: nothing was changed", what);
	return 0;
}

int adopt_history(const struct here *p, struct err *err)
{
	const struct journal_spec spec = {.folder = p->folder, .state_dir = p->state_dir};
	AUTO_FREE char *was = NULL, *from = NULL, *to = NULL;
	int r = journal_adopt(&spec, &was, err);

	if (r < 0)
		return r;
	if (str_eq(was, p->folder)) {
		printf("The history that was put aside is that of %s again.\n", p->folder);
		return 0;
	}
	from = folders_audit_path(p->state_dir, was);
	to = folders_audit_path(p->state_dir, p->folder);
	if (faccessat(AT_FDCWD, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || rename(from, to) < 0)
		printf("The audit log of that time stays at %s.\n", from);
	fputs("The history of ", stdout);
	show_text(was, strlen(was));
	printf(" is that of %s now.\n", p->folder);
	return 0;
}

int forget_all(const struct here *p, bool yes, struct err *err)
{
	const struct journal_spec spec = {.folder = p->folder, .state_dir = p->state_dir};
	int r = yes ? 0 : confirm(p, "discard", "All steps", err);

	if (r == 0)
		r = journal_discard(&spec, err);
	if (r == 0)
		printf("The history of %s is empty now.\n", p->folder);
	return r;
}

static int take_count(const char *flag, const char *text, int64_t max, int64_t *ret,
		      struct err *err)
{
	if (config_parse_int(text, ret) && *ret <= max)
		return 0;
	return err_say(err, -EINVAL, "%s: '%s' is no count: give a number, perhaps with k, m or g",
		       flag, text);
}

static int parse(const struct prune_options *o, struct journal_prune *what, struct err *err)
{
	int64_t n = 0;
	int r = 0;

	if (!o->keep && !o->older_than && !o->size)
		return err_say(
			err, -EINVAL,
			"--prune: needs a limit: give --keep N, --older-than DAYS or --size BYTES");
	if (o->keep) {
		r = take_count("--keep", o->keep, INT64_MAX, &n, err);
		what->steps = (size_t)n;
		what->at_least = n ? 0 : PRUNE_ALL;
	}
	if (r == 0 && o->older_than) {
		r = take_count("--older-than", o->older_than, 1000000, &n, err);
		what->before_us = clock_wall_us() - n * DAY_US;
	}
	if (r == 0 && o->size) {
		r = take_count("--size", o->size, INT64_MAX, &n, err);
		what->size = (uint64_t)n;
		what->at_least = n ? what->at_least : PRUNE_ALL;
	}
	return r;
}

static int prune(struct journal *j, const struct here *p, struct journal_prune *what, bool yes,
		 struct err *err)
{
	AUTO_FREE char *words = NULL;
	int r;

	what->look_only = true;
	r = journal_prune(j, what);
	if (r == 0 && what->n == 0) {
		printf("No step of %s needs to be removed.\n", p->folder);
		return 0;
	}
	if (what->n == 1)
		words = xasprintf("Step %" PRId64, what->first);
	else
		words = xasprintf("%zu steps, %" PRId64 " to %" PRId64 ",", what->n, what->first,
				  what->last);
	if (r == 0 && !yes)
		r = confirm(p, "prune", words, err);
	if (r < 0)
		return r;
	what->look_only = false;
	what->n = 0;
	r = journal_prune(j, what);
	if (r < 0)
		return err_set(err, r, "prune the history of %s", p->folder);
	printf("%s of %s %s gone.\n", words, p->folder, what->n == 1 ? "is" : "are");
	return 0;
}

int forget_oldest(const struct here *p, const struct prune_options *o, bool yes, struct err *err)
{
	const struct journal_spec spec = {
		.folder = p->folder, .state_dir = p->state_dir, .upkeep = true};
	struct journal_prune what = {0};
	struct journal *j = NULL;
	int r = parse(o, &what, err);

	if (r == 0)
		r = journal_open(&j, &spec, NULL, err);
	if (r == 0)
		r = prune(j, p, &what, yes, err);
	journal_close(j);
	return r;
}
