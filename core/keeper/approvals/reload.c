/* reload - rereads rule files that change during a session: all rules take effect, or none. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/reload.h"

#include <string.h>

#include "core/config/config.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/approvals/reload_posts.h"
#include "core/keeper/approvals/still_open.h"
#include "core/keeper/state.h"
#include "core/policy/rules/rules.h"
#include "core/policy/written.h"

/*
 * All files are read again by the function that read them at the start. If a file cannot be read,
 * or the file of an untrusted project allows something, the old rules stay and a message says why.
 * Other settings take effect at the next start. The order: the rules of this policy, the report of
 * files that stay open, the rules of the doors, the message to the user, waiting questions.
 */
#define SETTLE_US 50000 /* combines several writes of an editor, or of the agent */
struct reload {
	struct posts *posts; /* NULL: changes cannot be watched */
	bool hashed;
	uint64_t hash; /* of the current rules */
	int64_t at;    /* when to read the queue; 0: at the next event */
	bool changed;  /* the last events concerned one of the files */
};

static uint64_t mix(uint64_t seed, const char *s)
{
	return XXH3_64bits_withSeed(s, strlen(s) + 1, seed);
}

/* Hashes the rules with their lines, which are part of their names. */
static uint64_t hash_of(const struct config *c)
{
	size_t n = config_rules(c);
	uint64_t h = n;

	for (size_t i = 0; i < n; i++) {
		const struct config_rule rule = config_rule(c, i);
		const int about[] = {rule.line, (int)rule.level, rule.untrusted};

		h = mix(mix(mix(mix(h, rule.name), rule.key), rule.value), rule.file);
		h = XXH3_64bits_withSeed(about, sizeof(about), h);
	}
	return h;
}

/* ---- the queue of events --------------------------------------------------------------------- */

/* Waits for SETTLE_US before the next event, because the agent may write in one of the
 * directories. */
static void on_event(void *data)
{
	struct keeper *k = data;

	keeper_unwatch(k, posts_fd(k->reload->posts));
	k->reload->at = k->now + SETTLE_US;
}

static void wait_for_events(struct keeper *k)
{
	struct reload *r = k->reload;

	r->at = 0;
	if (!r->posts || keeper_watch(k, posts_fd(r->posts), on_event, k) < 0)
		keeper_note(k, "changed rules take effect at the next start: the kernel watches no "
			       "more files: raise fs.inotify.max_user_watches");
}

void reload_start(struct keeper *k)
{
	struct reload *r;

	if (!k->spec->source)
		return;
	r = xcalloc(1, sizeof(*r));
	r->posts = posts_open(config_files(k->spec->source));
	k->reload = r;
	if (r->posts)
		keeper_close_late(k, posts_fd(r->posts));
	/* Changes between the first read and the watch are not reported, so read once more. */
	r->changed = true;
	r->at = k->now + SETTLE_US;
}

void reload_stop(struct keeper *k)
{
	struct reload *r = take_ptr(&k->reload);

	if (!r)
		return;
	if (!r->at && r->posts)
		keeper_unwatch(k, posts_fd(r->posts));
	posts_free(r->posts);
	free(r);
}

int64_t reload_next(const struct keeper *k)
{
	return k->reload ? k->reload->at : 0;
}

static bool tell_doors(struct keeper *k, const struct config *c)
{
	bool whole = true;

	for (size_t i = 0; i < k->n_doors; i++)
		if (k->doors[i]->ops->reruled && !k->doors[i]->ops->reruled(k->doors[i], c))
			whole = false;
	return whole;
}

/* ---- reading the files ----------------------------------------------------------------------- */

/* Returns the hash of the current rules. That of the start's rules is computed on demand. */
static uint64_t used_hash(struct keeper *k)
{
	struct reload *r = k->reload;

	if (!r->hashed)
		r->hash = k->spec->config ? hash_of(k->spec->config) : 0;
	r->hashed = true;
	return r->hash;
}

static bool is_taken_back(void *data, int pid, enum hold what, const char *path)
{
	const struct keeper *k = data;

	(void)pid;
	(void)what;
	return policy_takes_back(k->policy, path);
}

/* Reports files that stay open, before the doors hide them. */
static void tell_left(struct keeper *k)
{
	struct remains r;

	remains_look(k, is_taken_back, k, &r);
	remains_tell(k, 0, &r);
	policy_forget_old(k->policy);
}

/* The rules are in the policy: tells the doors, and the user what they change for this session. */
static void take_over(struct keeper *k, const struct config *c)
{
	AUTO_BUF struct buf words = BUF_INIT;
	const char *when = "takes effect at the next start";
	bool restricts;

	policy_news(k->policy, &words, &restricts);
	asks_note_reruled(k);
	tell_left(k);
	/* An existing mount would still show what a rule restricts. */
	if (!tell_doors(k, c) || restricts)
		buf_fmt(&words, "%shiding a system path, or a parent of the folder, %s",
			words.len ? "; " : "", when);
	/* Only the start makes the thread that writes there. */
	if (words.len && k->spec->backend && !k->outside && policy_writes_outside(k->policy))
		buf_fmt(&words, "; writing outside the working folders %s", when);
	if (words.len)
		keeper_note(k, "rules reloaded: %s", words.data);
	asks_release_reruled(k);
}

/* Notes what the rules let the agent write, before they have an effect: programs outside must not
 * run it. */
static int note_written(struct keeper *k, const struct config *c, struct err *err)
{
	const struct rules_scope scope = {.home = k->spec->source->home,
					  .folders = k->spec->folders};

	return written_add_rules(c, &scope, err);
}

static void read_again(struct keeper *k)
{
	struct config *c = NULL;
	struct err err = {0};
	uint64_t hash = used_hash(k);
	int r = config_load(&c, k->spec->source, &err);

	if (r == 0)
		hash = hash_of(c);
	if (r == 0 && hash == k->reload->hash) {
		config_free(c);
		return;
	}
	if (r == 0)
		r = note_written(k, c, &err);
	if (r == 0)
		r = policy_reload(k->policy, c, &err);
	if (r < 0) {
		keeper_warn(k, "the rules stay as they were: %s", err.text);
	} else {
		k->reload->hash = hash;
		take_over(k, c);
	}
	config_free(c);
}

void reload_tick(struct keeper *k)
{
	struct reload *r = k->reload;

	if (!r || !r->at || r->at > k->now)
		return;
	if (r->posts && posts_read(r->posts)) {
		r->changed = true; /* the editor may still be writing */
		r->at = k->now + SETTLE_US;
		return;
	}
	if (r->changed)
		read_again(k);
	r->changed = false;
	wait_for_events(k);
}
