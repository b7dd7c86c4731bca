/* fuzz_proxy - any bytes to the proxy: heads of HTTP and messages of SOCKS. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/net/http.h"
#include "core/net/socks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A forwarded head must name the judged host, and be read back as one head. */
static void forward(const struct http_request *r)
{
	AUTO_BUF struct buf out = BUF_INIT, again = BUF_INIT;
	char text[NET_TARGET_TEXT], same[NET_TARGET_TEXT];
	struct http_request back;
	const char *why, *path;
	int n, lines = 0;

	http_forward(r, &out);
	path = strchr(out.data, ' ') + 1;
	if (*path != '/' || strlen(out.data) != out.len)
		abort();
	net_target_format(&r->target, text);
	buf_add(&again, out.data, (size_t)(path - out.data));
	buf_fmt(&again, "http://%s%s", text, path);
	for (const char *at = again.data; (at = strstr(at, "\r\n")); at += 2)
		lines++;
	/* Host and Connection are added, and may exceed the limit. */
	if (lines - 2 > HTTP_HEADERS_MAX)
		return;
	n = http_read(&back, again.data, again.len, &why);
	if (again.len > HTTP_HEAD_MAX)
		return;
	if (n != (int)again.len)
		abort();
	net_target_format(&back.target, same);
	if (strcmp(same, text) != 0 || back.chunked != r->chunked || back.body != r->body)
		abort();
}

static void http(const char *data, size_t size)
{
	AUTO_BUF struct buf out = BUF_INIT;
	struct http_request r;
	const char *why;
	int n = http_read(&r, data, size, &why);

	if (n > (int)size || (n < 0 && !why))
		abort();
	if (n > 0 && r.target.port == 0)
		abort();
	if (n > 0 && !r.tunnel)
		forward(&r);
	if (n < 0)
		http_answer(&out, 400, why);
}

static void socks(const uint8_t *data, size_t size)
{
	struct span name, secret;
	enum socks_reply reply;
	struct net_target t;
	bool knows;
	int n[3] = {socks_read_ways(&knows, data, size),
		    socks_read_secret(&name, &secret, data, size),
		    socks_read_request(&t, &reply, data, size)};

	for (size_t i = 0; i < 3; i++)
		if (n[i] > (int)size || n[i] > SOCKS_LONGEST)
			abort();
	if (n[2] > 0 && reply == SOCKS_OK && t.port == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* On the heap, without a NUL at the end, so that a read beyond it is detected. */
	uint8_t *copy = malloc(size ? size : 1);

	if (size)
		memcpy(copy, data, size);
	http((const char *)copy, size);
	socks(copy, size);
	free(copy);
	return 0;
}
