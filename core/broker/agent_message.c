/* agent_message - messages to and from an ssh-agent (draft-miller-ssh-agent, PROTOCOL.agent). */
/* SPDX-License-Identifier: MIT */
#include "core/broker/agent_message.h"

#include <errno.h>
#include <sha256.h>
#include <string.h>

#include "core/base/base64.h"

#define USERAUTH_REQUEST 50 /* SSH_MSG_USERAUTH_REQUEST, RFC 4252 */

/* ---- fields ---------------------------------------------------------------------------------- */

static bool get_u8(struct span *in, uint8_t *ret)
{
	if (in->len < 1)
		return false;
	*ret = (uint8_t)in->data[0];
	*in = (struct span){in->data + 1, in->len - 1};
	return true;
}

static bool get_u32(struct span *in, uint32_t *ret)
{
	const uint8_t *p = (const uint8_t *)in->data;

	if (in->len < 4)
		return false;
	*ret = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	*in = (struct span){in->data + 4, in->len - 4};
	return true;
}

static bool get_string(struct span *in, struct span *ret)
{
	uint32_t len;

	if (!get_u32(in, &len) || len > in->len)
		return false;
	*ret = (struct span){in->data, len};
	*in = (struct span){in->data + len, in->len - len};
	return true;
}

static bool is(struct span s, const char *word)
{
	return s.len == strlen(word) && memcmp(s.data, word, s.len) == 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

int agent_frame(const char *data, size_t len, struct span *ret)
{
	struct span in = {data, len};
	uint32_t size;

	if (!get_u32(&in, &size))
		return 0;
	if (size == 0 || size > AGENT_MESSAGE_MAX)
		return -EMSGSIZE;
	if (in.len < size)
		return 0;
	*ret = (struct span){in.data, size};
	return 1;
}

static bool read_bind(struct span *in, struct agent_request *ret)
{
	struct span signature;
	uint8_t forwards;

	ret->wish = AGENT_BIND;
	if (!get_string(in, &ret->host_key) || !get_string(in, &ret->session) ||
	    !get_string(in, &signature) || !get_u8(in, &forwards))
		return false;
	ret->forwards = forwards != 0;
	return ret->host_key.len && ret->session.len && !in->len;
}

int agent_read_request(struct span message, struct agent_request *ret)
{
	struct span name;
	uint32_t flags;
	uint8_t type;
	bool good = get_u8(&message, &type);

	*ret = (struct agent_request){.wish = AGENT_OTHER};
	if (good && type == AGENT_REQUEST_IDENTITIES) {
		ret->wish = AGENT_LIST;
		good = !message.len;
	} else if (good && type == AGENT_SIGN_REQUEST) {
		ret->wish = AGENT_SIGN;
		good = get_string(&message, &ret->key) && get_string(&message, &ret->data) &&
		       get_u32(&message, &flags) && !message.len && ret->key.len;
	} else if (good && type == AGENT_EXTENSION) {
		good = get_string(&message, &name);
		if (good && is(name, "session-bind@openssh.com"))
			good = read_bind(&message, ret);
	}
	return good ? 0 : -EBADMSG;
}

bool agent_read_login(struct span data, struct agent_login *ret)
{
	struct span service, method, algorithm;
	uint8_t type, has_key;

	*ret = (struct agent_login){0};
	if (!get_string(&data, &ret->session) || !get_u8(&data, &type) ||
	    type != USERAUTH_REQUEST || !get_string(&data, &ret->user) ||
	    !get_string(&data, &service) || !is(service, "ssh-connection") ||
	    !get_string(&data, &method) || !get_u8(&data, &has_key) || has_key != 1 ||
	    !get_string(&data, &algorithm) || !get_string(&data, &ret->key))
		return false;
	if (is(method, "publickey-hostbound-v00@openssh.com"))
		return get_string(&data, &ret->host_key) && ret->host_key.len && !data.len;
	return is(method, "publickey") && !data.len;
}

int agent_identities(struct span message, struct span *rest)
{
	uint32_t n;
	uint8_t type;

	if (!get_u8(&message, &type) || type != AGENT_IDENTITIES_ANSWER || !get_u32(&message, &n))
		return -EBADMSG;
	*rest = message;
	return 0;
}

int agent_next_identity(struct span *rest, struct span *key, struct span *comment)
{
	if (!rest->len)
		return 0;
	return get_string(rest, key) && key->len && get_string(rest, comment) ? 1 : -EBADMSG;
}

void agent_fingerprint(struct span key, char out[AGENT_FINGERPRINT])
{
	uint8_t sum[SHA256_DIGEST_LENGTH];
	AUTO_BUF struct buf text = BUF_INIT;
	SHA256_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)key.data, key.len);
	SHA256Final(sum, &ctx);
	base64_encode(&text, (const char *)sum, sizeof(sum));
	snprintf(out, AGENT_FINGERPRINT, "SHA256:%.*s", (int)strcspn(text.data, "="), text.data);
}

/* ---- writing --------------------------------------------------------------------------------- */

void agent_put_u32(struct buf *out, uint32_t v)
{
	const uint8_t bytes[] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
				 (uint8_t)v};

	buf_add(out, bytes, sizeof(bytes));
}

void agent_put(struct buf *out, struct span message)
{
	agent_put_u32(out, (uint32_t)message.len);
	buf_add(out, message.data, message.len);
}
