/* fuzz_broker - messages of git and ssh inside to the broker, and answers of the host's
 * programs. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/broker/agent_keys.h"
#include "core/broker/agent_message.h"
#include "core/broker/credential.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Text for the user's git has exactly the expected lines. */
static void git(struct span text)
{
	AUTO_BUF struct buf out = BUF_INIT, answer = BUF_INIT;
	struct credential c;
	struct span name, password;
	const char *why;
	size_t lines = 0;

	if (credential_read(&c, text, &why) == 1) {
		credential_question(&c, &out);
		for (size_t i = 0; i < out.len; i++)
			lines += out.data[i] == '\n';
		if (lines != 3u + (*c.path != 0) + (*c.username != 0) || strchr(out.data, '\r') ||
		    strlen(out.data) != out.len)
			abort();
	}
	if (credential_answer(text, &answer, &name, &password) == 0 && !password.len)
		abort();
}

static bool within(struct span inner, struct span outer)
{
	return !inner.len ||
	       (inner.data >= outer.data && inner.data + inner.len <= outer.data + outer.len);
}

static void ssh(struct span text)
{
	struct span message = text, rest, key, comment;
	char fingerprint[AGENT_FINGERPRINT];
	struct agent_request r;
	struct agent_login login;
	int got = agent_frame(text.data, text.len, &message);

	if (got == 1 && (!within(message, text) || message.len > AGENT_MESSAGE_MAX))
		abort();
	if (got != 1)
		message = text;
	if (agent_read_request(message, &r) == 0 &&
	    (!within(r.key, message) || !within(r.data, message) || !within(r.session, message) ||
	     !within(r.host_key, message) || (r.wish == AGENT_SIGN && !r.key.len)))
		abort();
	if (agent_read_login(message, &login) &&
	    (!within(login.key, message) || !within(login.host_key, message)))
		abort();
	if (agent_identities(message, &rest) == 0)
		while (agent_next_identity(&rest, &key, &comment) == 1)
			agent_fingerprint(key, fingerprint);
	(void)agent_keys_host_has(text, (struct span){"key", 3});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* On the heap, without a NUL at the end, so that a read beyond it is detected. */
	char *copy = malloc(size ? size : 1);

	if (size)
		memcpy(copy, data, size);
	git((struct span){copy, size});
	ssh((struct span){copy, size});
	free(copy);
	return 0;
}
