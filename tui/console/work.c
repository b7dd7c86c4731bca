/* work - runs a pure job on a worker thread of libuv's. */
/* SPDX-License-Identifier: MIT */
#include "core/base/util.h" /* before uv.h, which defines a MIN of its own */

#include "tui/console/work.h"

struct request {
	uv_work_t req;
	struct work work;
};

static void on_run(uv_work_t *req) /* worker thread */
{
	struct request *r = req->data;

	r->work.run(r->work.job);
}

/* status: only a cancel, which is never requested; the job does not get it. */
static void on_done(uv_work_t *req, int status)
{
	struct request *r = req->data;

	(void)status;
	r->work.done(r->work.job);
	r->work.after(r->work.data);
	free(r);
}

void work_submit(uv_loop_t *loop, const struct work *work)
{
	struct request *r = xcalloc(1, sizeof(*r));

	r->work = *work;
	r->req.data = r;
	uv_queue_work(loop, &r->req, on_run, on_done);
}
