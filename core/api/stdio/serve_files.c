/* serve_files - fs.*: jobs of the runner that read, write and list. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/api/request_line.h"
#include "core/api/stdio/serve_priv.h"
#include "core/base/base64.h"
#include "core/base/json.h"

#define WAIT_MS 600000 /* time to wait behind another write or a command */

/* Most bytes collected of what a process inside writes. */
#define COLLECT_MAX (CONTENT_MAX + (4u << 20))

/* ---- results --------------------------------------------------------------------------------- */

static void on_output(void *data, uint32_t job, int stream, const char *bytes, size_t len)
{
	struct request *r = data;
	struct buf *to = &r->text[stream == 2];

	if (to->len + len <= COLLECT_MAX)
		buf_add(to, bytes, len);
	jobs_took(engine_jobs(r->serve->engine), job, len);
}

static bool exited_well(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Parses "ERRNO words" on standard error. */
static int read_error(struct request *r, const struct job_result *result)
{
	char *words = r->text[1].data;
	long error = strtol(words, &words, 10);

	if (result->error)
		return fault_say(&r->fault,
				 result->error == -EPIPE   ? FAULT_SESSION_ENDED
				 : result->error == -EBUSY ? FAULT_AGENT_BUSY
							   : FAULT_FS_FAILED,
				 "%s", result->words);
	if (exited_well(result->wait_status))
		return 0;
	words[strcspn(words, "\n")] = '\0';
	return fault_file(&r->fault, (int)error,
			  *words ? words + 1 : "it was ended before it was done");
}

static int read_content(struct request *r)
{
	const char *encoding = serve_text(r, "encoding", "auto");
	char *content = strchr(r->text[0].data, '\n');
	unsigned long long size = 0;
	long long mtime = 0;
	unsigned mode = 0;
	size_t len;

	if (!content || sscanf(r->text[0].data, "%llu %o %lld\n", &size, &mode, &mtime) != 3)
		return fault_say(&r->fault, FAULT_FS_FAILED, "what came from inside is no file");
	content++;
	len = r->text[0].len - (size_t)(content - r->text[0].data);
	if (str_eq(encoding, "utf-8") && !describe_is_utf8(content, len))
		return fault_say(&r->fault, FAULT_FS_ENCODING,
				 "the file is not UTF-8: ask for base64 or auto");
	r->result = cJSON_CreateObject();
	if (str_eq(encoding, "base64")) {
		AUTO_BUF struct buf text = BUF_INIT;

		base64_encode(&text, content, len);
		cJSON_AddStringToObject(r->result, "content", text.data);
		cJSON_AddStringToObject(r->result, "encoding", "base64");
	} else {
		describe_bytes(r->result, "content", content, len);
	}
	cJSON_AddNumberToObject(r->result, "size", (double)size);
	cJSON_AddNumberToObject(r->result, "offset", serve_number(r, "offset"));
	cJSON_AddNumberToObject(r->result, "mode", mode & 07777);
	cJSON_AddNumberToObject(r->result, "mtime_us", (double)mtime);
	cJSON_AddBoolToObject(r->result, "truncated",
			      serve_number(r, "offset") + (double)len < (double)size);
	return 0;
}

/* Copies the known members of a line: it comes from inside and is not trusted. */
static cJSON *copy_line(char *line)
{
	static const char *const texts[] = {"name", "type", "target", "kind", "path", "other"};
	static const char *const numbers[] = {"size", "mode", "mtime_us"};
	cJSON *in = request_line_parse(line, strlen(line)), *out = cJSON_CreateObject();

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const char *v = json_text(in, texts[i]);

		if (v)
			describe_add(out, texts[i], v);
	}
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		const cJSON *v = json_get(in, numbers[i]);

		if (cJSON_IsNumber(v))
			cJSON_AddNumberToObject(out, numbers[i], v->valuedouble);
	}
	cJSON_Delete(in);
	return out;
}

static void read_list(struct request *r, const char *name)
{
	size_t most = (size_t)serve_number(r, "limit"), n = 0;
	cJSON *list;
	bool cut = false;

	r->result = cJSON_CreateObject();
	list = cJSON_AddArrayToObject(r->result, name);
	for (char *line = r->text[0].data, *next; *line; line = next) {
		size_t len = strcspn(line, "\n");

		next = line + len + (line[len] == '\n');
		line[len] = '\0';
		if (n++ >= most || str_starts(line, "{\"kind\":\"cut\""))
			cut = true;
		else
			cJSON_AddItemToArray(list, copy_line(line));
	}
	cJSON_AddBoolToObject(r->result, "truncated", cut);
}

static void on_ended(void *data, uint32_t job, const struct job_result *result)
{
	struct request *r = data;
	int outcome = read_error(r, result);

	(void)job;
	if (r->op->fn == op_write) {
		(void)!serve_step_done(r->serve, r, result);
		model_made(r->serve, r, result->step);
		if (outcome == 0) {
			r->result = cJSON_CreateObject();
			cJSON_AddItemToObject(r->result, "step_id",
					      result->step
						      ? cJSON_CreateNumber((double)result->step)
						      : cJSON_CreateNull());
			cJSON_AddNumberToObject(r->result, "paths", (double)result->paths);
		}
	} else if (outcome == 0 && r->op->fn == op_read) {
		outcome = read_content(r);
	} else if (outcome == 0) {
		read_list(r, r->op->fn == op_list ? "entries" : "warnings");
	}
	serve_respond(r, outcome);
}

static const struct job_listener listener = {.output = on_output, .ended = on_ended};

int serve_job_fault(struct request *r, const struct err *err)
{
	return fault_err(&r->fault, err->code == -EPIPE ? FAULT_SESSION_ENDED : FAULT_AGENT_BUSY,
			 err);
}

/* ---- operations ------------------------------------------------------------------------------ */

struct content {
	char *bytes;
	size_t len;
};

static int run(struct serve *s, struct request *r, uint32_t flags, const char *const *argv,
	       const struct content *content)
{
	const struct dir *p = dirs_find(&s->dirs, serve_get(r, "directory"), &r->fault);
	AUTO_FREE char *label = NULL;
	struct err err = {0};

	if (!p)
		return -1;
	label = xasprintf("write %s", argv[0]);
	r->job = jobs_run(engine_jobs(s->engine),
			  &(struct job_spec){.flags = flags,
					     .label = label,
					     .cwd = p->path,
					     .argv = argv,
					     .input = content ? content->bytes : NULL,
					     .input_len = content ? content->len : 0,
					     .wait_ms = content ? WAIT_MS : 0},
			  &listener, r, &err);
	return r->job ? 1 : serve_job_fault(r, &err);
}

int op_list(struct serve *s, struct request *r)
{
	AUTO_FREE char *most = xasprintf("%.0f", serve_number(r, "limit"));
	const char *argv[] = {serve_text(r, "path", "."), most, NULL};

	return run(s, r, RUN_LIST, argv, NULL);
}

int op_fs_status(struct serve *s, struct request *r)
{
	AUTO_FREE char *most = xasprintf("%.0f", serve_number(r, "limit"));
	const char *argv[] = {".", most, NULL};

	return run(s, r, RUN_SCAN, argv, NULL);
}

int op_read(struct serve *s, struct request *r)
{
	AUTO_FREE char *offset = xasprintf("%.0f", serve_number(r, "offset"));
	AUTO_FREE char *most = xasprintf("%.0f", serve_number(r, "length"));
	const char *argv[] = {serve_text(r, "path", ""), offset, most, NULL};

	return run(s, r, RUN_READ, argv, NULL);
}

/* Returns the content; bytes is heap, NULL if the text is not base64. */
static struct content content_of(struct request *r)
{
	const char *text = serve_text(r, "content", "");
	struct content c = {.len = strlen(text)};

	c.bytes = str_eq(serve_text(r, "encoding", ""), "base64") ? base64_decode(text, &c.len)
								  : xstrdup(text);
	return c;
}

int op_write(struct serve *s, struct request *r)
{
	AUTO_FREE char *mode = xasprintf("%o", (unsigned)serve_number(r, "mode"));
	const char *argv[] = {serve_text(r, "path", ""), serve_text(r, "how", ""), mode,
			      serve_flag(r, "parents") ? "1" : "0", NULL};
	struct content content = content_of(r);
	int outcome;

	if (!content.bytes)
		return fault_say(&r->fault, FAULT_FS_ENCODING, "content: is not base64");
	r->command = xasprintf("write %s", argv[0]);
	r->stepped = true;
	outcome = run(s, r, RUN_WRITE | RUN_INPUT | RUN_STEP | RUN_API, argv, &content);
	free(content.bytes);
	return outcome;
}
