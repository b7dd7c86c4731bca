/* undo_options - the options of `cordon undo` and `cordon redo`, and the steps that they select. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/undo_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/mark.h"

/* ---- parsing -------------------------------------------------------------------------------- */

static int parse_number(const char *option, const char *s, long long min, long long *ret,
			struct err *err)
{
	char *end;

	errno = 0;
	*ret = strtoll(s, &end, 10);
	if (errno || end == s || *end || *ret < min)
		return err_say(err, -EINVAL, "option '%s': '%s' is not a %s: give a number", option,
			       s, str_eq(option, "-n") ? "count of steps" : "step");
	return 0;
}

static const char *name_of(enum undo_how how)
{
	static const char *const names[] = {[UNDO_COUNT] = "-n",
					    [UNDO_TO] = "--to",
					    [UNDO_TO_MARK] = "--to-mark",
					    [UNDO_TURN] = "--turn",
					    [UNDO_STEP] = "--step"};

	return names[how];
}

static int choose(struct undo_options *o, enum undo_how how, struct err *err)
{
	if (o->how != UNDO_NEWEST)
		return err_say(err, -EINVAL,
			       "%s and %s: each says which steps to undo: give one of them",
			       name_of(o->how), name_of(how));
	o->how = how;
	return 0;
}

/* Returns whether it is a number with a sign, like steps of version 0.1. */
static bool is_negative(const char *arg)
{
	return arg[0] == '-' && arg[1] && !arg[1 + strspn(arg + 1, "0123456789")];
}

static int refuse_bare(const struct undo_options *o, const char *arg, struct err *err)
{
	if (o->kind == UNDO_REDO)
		return err_say(err, -EINVAL,
			       "'%s': redo takes no number: it brings back all that the last undo "
			       "took away; a second redo what the undo before it took",
			       arg);
	arg += is_negative(arg); /* the sign may belong to a step of an old history */
	if (arg[strspn(arg, "0123456789")])
		return err_say(err, -EINVAL,
			       "'%s': not an option: cordon undo --help lists what there is (paths "
			       "of one step: cordon undo --step STEP -- PATH...)",
			       arg);
	if (str_eq(arg, "1"))
		return err_say(err, -EINVAL,
			       "undo 1: say which you mean: `-n 1` undoes the newest step, `--step "
			       "1` undoes step 1 alone");
	return err_say(err, -EINVAL,
		       "undo %s: say which you mean: `-n %s` undoes the newest %s steps, `--step "
		       "%s` undoes step %s alone",
		       arg, arg, arg, arg, arg);
}

/* Parses options with a value that select steps. Returns 1, or 0 for other options. */
static int parse_which(struct undo_options *o, int argc, char **argv, int *i, struct err *err)
{
	static const enum undo_how hows[] = {UNDO_COUNT, UNDO_TO, UNDO_STEP};
	const char *option = argv[*i];
	long long v = 0;
	int r;

	for (size_t k = 0; k < ARRAY_LEN(hows); k++) {
		if (!str_eq(option, name_of(hows[k])))
			continue;
		if (*i + 1 >= argc)
			return err_say(err, -EINVAL, "option '%s': needs a value: %s %s", option,
				       option, hows[k] == UNDO_COUNT ? "N" : "STEP");
		r = choose(o, hows[k], err);
		if (r == 0 && hows[k] == UNDO_COUNT && is_negative(argv[*i + 1]))
			r = refuse_bare(o, argv[*i + 1], err);
		if (r == 0)
			r = parse_number(option, argv[++*i], hows[k] == UNDO_COUNT ? 1 : INT64_MIN,
					 &v, err);
		if (r < 0)
			return r;
		if (hows[k] == UNDO_COUNT)
			o->count = (size_t)v;
		else
			o->step = v;
		return 1;
	}
	return 0;
}

static const struct {
	const char *name;
	unsigned flag;
} flags[] = {{"--force", UNDO_FORCE},
	     {"--keep-mine", UNDO_KEEP_MINE},
	     {"--merge", UNDO_MERGE},
	     {"--all-places", UNDO_ALL_PLACES}};

static unsigned flag_of(const struct undo_options *o, const char *arg)
{
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (str_eq(arg, flags[i].name) &&
		    (o->kind == UNDO_BACK || flags[i].flag != UNDO_ALL_PLACES))
			return flags[i].flag;
	return 0;
}

/* Parses --to-mark; like parse_which(). */
static int parse_mark(struct undo_options *o, int argc, char **argv, int *i, struct err *err)
{
	int r;

	if (!str_eq(argv[*i], "--to-mark"))
		return 0;
	if (*i + 1 >= argc)
		return err_say(err, -EINVAL, "option '--to-mark': needs a value: --to-mark NAME");
	r = choose(o, UNDO_TO_MARK, err);
	o->mark = argv[++*i];
	return r < 0 ? r : 1;
}

/* Parses --saved; like parse_which(). */
static int parse_saved(struct undo_options *o, int argc, char **argv, int *i, struct err *err)
{
	long long v = 0;
	int r;

	if (!str_eq(argv[*i], "--saved"))
		return 0;
	if (*i + 1 >= argc)
		return err_say(err, -EINVAL, "option '--saved': needs a value: --saved N");
	r = parse_number("--saved", argv[++*i], 1, &v, err);
	o->saved = (uint64_t)v;
	return r < 0 ? r : 1;
}

static int parse_one(struct undo_options *o, int argc, char **argv, int *i, struct err *err)
{
	const char *arg = argv[*i];
	int r = o->kind == UNDO_BACK ? parse_which(o, argc, argv, i, err)
				     : parse_saved(o, argc, argv, i, err);

	if (r == 0 && o->kind == UNDO_BACK)
		r = parse_mark(o, argc, argv, i, err);
	else if (r == 0 && str_eq(arg, "-n"))
		r = refuse_bare(o, arg, err);
	if (r != 0)
		return MIN(r, 0);
	if (str_eq(arg, "--dry-run"))
		o->dry_run = true;
	else if (str_eq(arg, "--help") || str_eq(arg, "-h"))
		o->help = true;
	else if (flag_of(o, arg))
		o->flags |= flag_of(o, arg);
	else if (str_eq(arg, "--turn") && o->kind == UNDO_BACK)
		return choose(o, UNDO_TURN, err);
	else if (str_eq(arg, "--") && (o->kind == UNDO_BACK || o->saved))
		while (++*i < argc)
			strings_add(&o->given, argv[*i]);
	else if (*arg != '-' || is_negative(arg))
		return refuse_bare(o, arg, err);
	else
		return err_say(err, -EINVAL,
			       "unknown option '%s': cordon %s --help lists what there is", arg,
			       o->kind == UNDO_BACK ? "undo" : "redo");
	return 0;
}

static int check(const struct undo_options *o, struct err *err)
{
	if ((o->flags & UNDO_FORCE) && (o->flags & UNDO_KEEP_MINE))
		return err_say(err, -EINVAL,
			       "--force and --keep-mine: --force overwrites your edits, "
			       "--keep-mine leaves them: give one of them");
	if (o->how == UNDO_STEP && (o->flags & (UNDO_KEEP_MINE | UNDO_MERGE)))
		return err_say(
			err, -EINVAL,
			"--step: --keep-mine and --merge are for whole steps: leave the path "
			"out, or use --force");
	if (o->saved && (o->flags || o->dry_run))
		return err_say(err, -EINVAL, "--saved: replaces nothing: it takes paths alone");
	if (o->given.n && o->how != UNDO_STEP && !o->saved)
		return err_say(err, -EINVAL,
			       "paths are of one step: cordon undo --step STEP -- PATH...");
	return 0;
}

int undo_options_parse(struct undo_options *o, int argc, char **argv, struct err *err)
{
	for (int i = 0; i < argc; i++) {
		int r = parse_one(o, argc, argv, &i, err);

		if (r < 0)
			return r;
	}
	return check(o, err);
}

void undo_options_help(enum undo_kind kind)
{
	const bool redo = kind == UNDO_REDO;

	if (redo) {
		printf("usage: cordon redo [--dry-run] [--keep-mine | --force] [--merge]\n"
		       "       cordon redo --saved N [-- PATH...]\n\n"
		       "Bring back what the last undo took away.\n\n"
		       "  --saved N   files of yours that an undo replaced, as `cordon log` lists\n"
		       "              them; a path that exists gets them as PATH.saved-N\n");
	} else {
		printf("usage: cordon undo [-n N | --to STEP | --to-mark NAME | --turn] "
		       "[--all-places]\n"
		       "                   [--dry-run] [--keep-mine | --force] [--merge]\n"
		       "       cordon undo --step STEP [--dry-run] [--force] [-- PATH...]\n\n"
		       "Undo the newest step.\n\n"
		       "  -n N        the newest N steps\n"
		       "  --to STEP   all steps that are newer than STEP\n"
		       "  --to-mark NAME\n"
		       "              all steps since that restore point (cordon mark)\n"
		       "  --turn      all steps since your last prompt to the agent\n"
		       "  --step STEP that step alone, or only these paths of it, as a new step\n"
		       "  --all-places\n"
		       "              also changes outside the working folders: an agent's "
		       "transcripts,\n"
		       "              places that you granted\n");
	}
	printf("  --dry-run   only list the changes; works while a session runs\n\n"
	       "For files that you or another program edited after the %s:\n\n"
	       "  --keep-mine keep them as they are, and %s the rest\n"
	       "  --merge     merge both sides' changes of text files; --dry-run shows the\n"
	       "              result. Where both changed the same lines nothing is done, unless\n"
	       "              --keep-mine (yours stay) or --force (conflict markers)\n"
	       "  --force     overwrite them; %s brings your version back\n",
	       redo ? "undo" : "step", redo ? "redo" : "undo", redo ? "undo" : "redo");
}

/* ---- which steps ---------------------------------------------------------------------------- */

struct history {
	struct journal *j;
	int64_t *ids; /* newest first */
	size_t n;
	struct turn_mark *turns; /* oldest first */
	size_t n_turns;
	struct mark *marks;
	size_t n_marks;
};

/* Returns whether the step changed more than other places. An undo reports a step that cannot be
 * read. */
static bool counts(const struct undo_options *o, const struct history *h, size_t at)
{
	struct step_info s = {0};
	struct err ignored = {0};
	bool elsewhere;

	if (o->flags & UNDO_ALL_PLACES)
		return true;
	elsewhere = journal_info(h->j, h->ids[at], &s, &ignored) == 0 && s.elsewhere;
	step_info_done(&s);
	return !elsewhere;
}

static int history_load(struct history *h, const struct undo_options *o, const char *folder,
			const char *state_dir, struct err *err)
{
	const struct journal_spec spec = {
		.folder = folder, .state_dir = state_dir, .read_only = true};
	int r = journal_open(&h->j, &spec, NULL, err);

	if (r == 0)
		r = journal_ids(h->j, false, &h->ids, &h->n, err);
	if (r == 0 && o->how == UNDO_TURN)
		r = journal_turns(h->j, &h->turns, &h->n_turns, err);
	if (r == 0 && o->how == UNDO_TO_MARK)
		r = journal_marks(h->j, &h->marks, &h->n_marks, err);
	return r;
}

static void history_done(struct history *h)
{
	free(h->ids);
	turn_marks_free(h->turns, h->n_turns);
	marks_free(h->marks, h->n_marks);
	journal_close(h->j);
}

/* Takes the newest `wanted` steps that count, and those between them. Returns how many count. */
static size_t take_count(struct undo_options *o, const struct history *h, size_t wanted)
{
	size_t counted = 0;

	for (o->n = 0; counted < wanted && o->n < h->n; o->n++) {
		counted += counts(o, h, o->n);
		o->oldest = h->ids[o->n];
	}
	return counted;
}

static int take_newer(struct undo_options *o, const struct history *h, struct err *err)
{
	bool other = false;

	for (o->n = 0; o->n < h->n && h->ids[o->n] != o->step; o->n++) {
		o->oldest = h->ids[o->n];
		other |= o->oldest == -o->step;
	}
	if (o->n == h->n)
		return step_unknown(h->j, o->step, other, err);
	if (o->n == 0)
		return err_say(err, -ENOENT, "step %lld is the newest: there is nothing to undo",
			       (long long)o->step);
	return 0;
}

/* Takes all steps after the mark of the turn with the newest step that counts. */
static int take_turn(struct undo_options *o, const struct history *h, struct err *err)
{
	const struct turn_mark *mark;
	size_t i = 0;

	while (i < h->n && !counts(o, h, i))
		i++;
	if (i == h->n)
		return err_say(err, -ENOENT, "there is nothing to undo");
	mark = turn_mark_of(h->turns, h->n_turns, h->ids[i]);
	if (!mark)
		return err_say(err, -ENOENT,
			       "--turn: nothing says which turn step %lld belongs to: use -n or "
			       "--to",
			       (long long)h->ids[i]);
	if (mark->batch)
		return err_say(err, -ENOENT,
			       "--turn: step %lld was made without a console, where nobody pressed "
			       "Enter: use -n or --to",
			       (long long)h->ids[i]);
	for (o->n = 0; o->n < h->n && llabs(h->ids[o->n]) > mark->after; o->n++)
		o->oldest = h->ids[o->n];
	return 0;
}

static int take_marked(struct undo_options *o, const struct history *h, struct err *err)
{
	const struct mark *mark = mark_find(h->marks, h->n_marks, o->mark);

	if (!mark)
		return err_say(err, -ENOENT,
			       "there is no restore point '%s': `cordon mark` lists them", o->mark);
	for (o->n = 0; o->n < h->n && llabs(h->ids[o->n]) > mark->after; o->n++)
		o->oldest = h->ids[o->n];
	if (o->n == 0)
		return err_say(err, -ENOENT, "there is nothing to undo since '%s'", o->mark);
	return 0;
}

static int take_counted(struct undo_options *o, const struct history *h, struct err *err)
{
	const size_t wanted = o->how == UNDO_COUNT ? o->count : 1;
	const size_t counted = take_count(o, h, wanted);

	if (o->how == UNDO_COUNT && wanted > counted)
		return counted ? err_say(err, -ENOENT,
					 "undo -n %zu: there %s only %zu step%s to undo", wanted,
					 counted == 1 ? "is" : "are", counted,
					 counted == 1 ? "" : "s")
			       : err_say(err, -ENOENT, "there is nothing to undo");
	if (h->n && !counted)
		return err_say(err, -ENOENT,
			       "the steps changed nothing in this folder: --all-places undoes what "
			       "they changed elsewhere");
	return 0;
}

/* The newest step is undone like by `undo`, so that a redo restores it. */
static void take_step(struct undo_options *o, const struct history *h)
{
	if (!h->n || h->ids[0] != o->step)
		return;
	o->how = UNDO_COUNT;
	o->oldest = o->step;
}

int undo_options_find(struct undo_options *o, const char *folder, const char *state_dir,
		      struct err *err)
{
	struct history h = {0};
	struct err why = {0};
	int r;

	o->n = 1;
	if (o->kind == UNDO_REDO || (o->how == UNDO_STEP && o->given.n))
		return 0;
	r = history_load(&h, o, folder, state_dir, &why);
	/* For the newest step, opening the history for writing reports the error. */
	if (r < 0 && (o->how == UNDO_NEWEST || o->how == UNDO_STEP)) {
		journal_close(h.j);
		return 0;
	}
	if (r < 0)
		*err = why;
	else if (o->how == UNDO_STEP)
		take_step(o, &h);
	else if (o->how == UNDO_TO)
		r = take_newer(o, &h, err);
	else if (o->how == UNDO_TO_MARK)
		r = take_marked(o, &h, err);
	else if (o->how == UNDO_TURN)
		r = take_turn(o, &h, err);
	else
		r = take_counted(o, &h, err);
	if (r == 0 && o->n <= 1) /* one step cannot be miscounted */
		o->oldest = o->n == 1 && o->how != UNDO_NEWEST ? o->oldest : 0;
	o->n = MAX(o->n, (size_t)1);
	history_done(&h);
	return r;
}
