/* plan_effects - the net effect of a plan's steps on each path; which steps were concurrent. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/concurrent.h"
#include "core/journal/history/current_name.h"
#include "core/journal/history/list.h"
#include "core/journal/history/net_effect.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/history/version_chain.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

struct span_of { /* a step's span, in sequence numbers */
	uint64_t began, ended;
	uint64_t first, last; /* of its records, which a redo writes anew */
	unsigned cluster;     /* number of its cluster of concurrent steps */
	bool turned;	      /* see struct summary */
};

static void count_records(const struct undo_log *log, struct span_of *ret)
{
	struct rec rec;
	size_t at = 0;

	ret->first = UINT64_MAX;
	while (undo_log_next(log, &at, &rec)) {
		if (rec.type == REC_STEP)
			continue;
		ret->first = MIN(ret->first, rec.seq);
		ret->last = rec.seq;
	}
}

static int load_span(const struct planner *p, size_t i, struct span_of *ret)
{
	AUTO_CLOSE int fd = store_open_dir(p->j, p->dirs->list[i]);
	AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;
	AUTO_SUMMARY struct summary head = {0};
	int r;

	if (fd < 0)
		return fd;
	r = summary_seq(fd, &ret->ended);
	if (r == 0)
		r = summary_load(fd, false, &head);
	ret->turned = head.turned;
	if (r == 0 && p->redo)
		r = log_look(p->j, &log, fd, "undo");
	if (r == 0)
		ret->began = concurrent_began(p->redo ? &log : &p->logs[i]);
	count_records(&p->logs[i], ret);
	return r < 0 ? history_step_unread(p->err, r, strchr(p->dirs->list[i], '/') + 1) : 0;
}

/* Numbers the clusters of steps that overlapped in time, directly or through others. The list is
 * newest first. A cluster begins where all older steps had ended before the newer ones began. */
static int load_spans(const struct planner *p, struct span_of *spans)
{
	size_t n = p->dirs->n;
	AUTO_FREE uint64_t *ended = xcalloc(n + 1, sizeof(*ended)); /* of i or an older step */
	uint64_t began = UINT64_MAX;
	unsigned cluster = 1;
	int r = 0;

	for (size_t i = n; r == 0 && i-- > 0;) {
		r = load_span(p, i, &spans[i]);
		ended[i] = MAX(spans[i].ended, ended[i + 1]);
	}
	for (size_t i = 0; r == 0 && i < n; i++) {
		cluster += ended[i] <= began && i;
		began = MIN(began, spans[i].began);
		spans[i].cluster = cluster;
	}
	return r;
}

static struct chain_step chain_step_of(const struct planner *p, const struct span_of *spans,
				       size_t i)
{
	struct chain_step s = {.cluster = spans[i].cluster,
			       .alone = true,
			       .turned = spans[i].turned,
			       .first = UINT64_MAX,
			       .ended = spans[i].ended,
			       .end = spans[i].last,
			       .log = &p->logs[i]};
	bool original = true;

	for (size_t k = 0; k < p->dirs->n; k++) {
		if (spans[k].cluster != s.cluster)
			continue;
		s.alone &= k == i;
		original &= spans[k].last <= spans[k].ended;
		s.first = MIN(s.first, spans[k].first);
		s.last = MAX(s.last, spans[k].last);
	}
	if (!s.alone) /* concurrent steps may have moved directories after its last record */
		s.end = original ? spans[i].ended : 0;
	return s;
}

/* Adds the paths that the step changed without a record. A rollback leaves them as they are. */
static void find_lost(struct planner *p, const struct change *c)
{
	if (!path_set_has(&p->places, c->root, c->path))
		path_set_add(&p->lost, c->root, c->path);
	if (c->old_path && !path_set_has(&p->places, c->root, c->old_path))
		path_set_add(&p->lost, c->root, c->old_path);
}

struct reading { /* state while one step is read */
	struct planner *p;
	bool tangled;		/* all its net effects are uncertain */
	bool chained;		/* looks for external edits between steps; a redo restores them */
	struct path_set others; /* paths of concurrent steps */
};

/* Finds the paths of the steps that overlapped with step i in time. The list is newest first; a
 * step takes its first number before its first change. After a rename of a directory, paths alone
 * prove nothing: all is tangled. */
static void find_others(struct reading *r, const struct span_of *spans, size_t i)
{
	const struct planner *p = r->p;

	for (size_t k = 0; k < p->dirs->n; k++) {
		if (k == i ||
		    (k < i ? spans[k].began >= spans[i].ended : spans[i].began >= spans[k].ended))
			continue;
		r->tangled |= p->moves.n != 0;
		if (!r->tangled)
			log_paths(&p->logs[k], &r->others);
	}
}

static bool is_tangled(const struct reading *r, int root, const char *path)
{
	return r->tangled || (path && path_set_has(&r->others, root, path));
}

static void take_change(void *data, const struct summary *s, const struct change *c)
{
	const struct reading *r = data;

	net_effects_add(&r->p->fates, c, s->partial || is_tangled(r, c->root, c->path),
			s->partial || is_tangled(r, c->root, c->old_path));
	if (r->chained)
		chains_change(&r->p->chains, c);
	if (s->info.unprotected && !r->p->redo) /* the redo log has all that the undo replaced */
		find_lost(r->p, c);
}

/* Keeps the after-image of an undone step, under the present name of its path. */
static int take_gone(void *data, const struct after_image *post)
{
	struct planner *p = data;
	struct after_image one = *post;
	AUTO_FREE char *key = NULL;

	if (post->kept)
		return 0;
	key = current_name_of(&p->chains.caller, post->seq, post->root, post->path);
	one.key = key;
	after_images_take(&p->gone, &one);
	return 0;
}

/*
 * An IMAGE_SHARED image was taken after a redo and shows the state that newer steps left. If newer
 * steps were undone afterwards, the newest image of an undone step shows the state without them:
 * takes that.
 */
static int look_behind(struct planner *p, struct after_image *post)
{
	AUTO_FREE char *key = NULL;
	struct after_image gone;
	int r = 0;

	if (!(post->flags & IMAGE_SHARED) || post->seq > p->undone)
		return 0;
	if (!p->has_gone)
		r = after_image_each(p->j, NULL, NULL, take_gone, p);
	p->has_gone = true;
	key = current_name_of(&p->chains.caller, post->seq, post->root, post->path);
	if (r < 0 || !after_images_find(&p->gone, key, &gone) || gone.seq < post->seq)
		return r;
	post->obj = gone.obj;
	post->flags |= gone.flags & IMAGE_FOREIGN;
	return 0;
}

static int chain_left(struct planner *p, int stepdir)
{
	AUTO_IMAGE_READER struct after_image_reader reader;
	struct after_image post;
	int r = after_image_begin(&reader, stepdir, "post");

	if (r == -ENOENT)
		return 0;
	while (r >= 0 && (r = after_image_next(&reader, &post)) > 0) {
		r = look_behind(p, &post);
		if (r == 0)
			chains_left(&p->chains, &post);
	}
	return r;
}

static int read_step(struct reading *reading, int stepdir)
{
	struct planner *p = reading->p;
	struct undo_plan *plan = p->plan;
	AUTO_SUMMARY struct summary s = {0};
	int r = summary_read(stepdir, &s, take_change, reading);

	if (r < 0)
		return r;
	plan->ids[plan->n_ids++] = s.info.id;
	if (s.info.unprotected && !p->redo)
		path_set_add(&p->lost, 0, s.info.unprotected);
	if (s.partial) { /* its changes of the other steps' paths may be missing */
		net_effects_tangle(&p->fates);
		chains_gap(&p->chains);
	} else if (reading->chained) {
		r = chain_left(p, stepdir);
	}
	return r;
}

int plan_load_effects(struct planner *p)
{
	AUTO_FREE struct span_of *spans = xcalloc(p->dirs->n, sizeof(*spans));
	int r = load_spans(p, spans);

	p->chains.caller.moves = &p->moves;
	if (r == 0 && p->dirs->n > 1 && !p->redo)
		r = after_image_undone(p->j, &p->undone);
	p->plan->ids = xcalloc(p->dirs->n, sizeof(*p->plan->ids));
	for (size_t i = 0; r == 0 && i < p->dirs->n; i++) {
		AUTO_CLOSE int fd = store_open_dir(p->j, p->dirs->list[i]);
		struct reading reading = {.p = p, .chained = p->dirs->n > 1 && !p->redo};
		struct chain_step step = chain_step_of(p, spans, i);

		step.dir = fd;
		find_others(&reading, spans, i);
		if (reading.chained)
			chains_step(&p->chains, &step);
		r = fd < 0 ? fd : read_step(&reading, fd);
		if (fd >= 0 && r < 0)
			r = history_step_unread(p->err, r, strchr(p->dirs->list[i], '/') + 1);
		path_set_done(&reading.others);
	}
	chains_end(&p->chains);
	return r;
}
