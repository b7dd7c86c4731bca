/* test_broker - messages of git and ssh inside are parsed exactly, or refused. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/base/base64.h"
#include "core/broker/agent_keys.h"
#include "core/broker/agent_message.h"
#include "core/broker/credential.h"
#include "core/broker/secrets.h"
#include "core/record/redact.h"
#include "tests/support/check.h"

#define SPAN(text) ((struct span){text, sizeof(text) - 1})

/* ---- git ------------------------------------------------------------------------------------- */

static int reads(const char *text, struct credential *c)
{
	const char *why;

	return credential_read(c, (struct span){text, strlen(text)}, &why);
}

TEST(a_request_of_gits_is_read)
{
	AUTO_BUF struct buf question = BUF_INIT;
	struct credential c;

	assert_int_equal(
		reads("action=get\ntimeout=900\nprotocol=https\nhost=Git.Example.org:8443\n"
		      "path=a/b.git\nusername=me\nwwwauth[]=Basic realm=\"x\"\n",
		      &c),
		1);
	assert_int_equal(c.target.port, 8443);
	credential_question(&c, &question);
	assert_string_equal(
		question.data,
		"protocol=https\nhost=git.example.org:8443\npath=a/b.git\nusername=me\n\n");
}

TEST(what_is_no_question_is_not_heard)
{
	struct credential c;

	assert_int_equal(reads("action=store\nprotocol=https\nhost=a.org\npassword=x\n", &c), 0);
	assert_int_equal(reads("action=erase\nprotocol=https\nhost=a.org\n", &c), 0);
	assert_int_equal(reads("", &c), 0);
	assert_int_equal(reads("action=get\nprotocol=http\nhost=a.org\n", &c), -EINVAL);
	assert_int_equal(reads("action=get\nprotocol=https\n", &c), -EINVAL);
	assert_int_equal(reads("action=get\nprotocol=https\nhost=a.org\rhost=b.org\n", &c),
			 -EINVAL);
	assert_int_equal(reads("action=get\nprotocol=https\nhost=a.org/x\n", &c), -EINVAL);
	assert_int_equal(reads("action=get\nprotocol=https\nhost=a.org\npath=\033[2J\n", &c),
			 -EINVAL);
}

TEST(an_answer_is_a_name_and_a_password)
{
	AUTO_BUF struct buf out = BUF_INIT;
	struct span name, password;

	assert_int_equal(credential_answer(SPAN("protocol=https\nhost=a.org\nusername=me\n"
						"password=a=b\npath=x\nurl=y\n"),
					   &out, &name, &password),
			 0);
	assert_string_equal(out.data, "username=me\npassword=a=b\n");
	assert_memory_equal(password.data, "a=b", 3);
	assert_int_equal(credential_answer(SPAN("username=me\n"), &out, &name, &password), -ENOENT);
	assert_int_equal(credential_answer(SPAN("password=a\0b\n"), &out, &name, &password),
			 -ENOENT);
}

/* ---- ssh ------------------------------------------------------------------------------------- */

#define SIGN "\x0d\0\0\0\3key\0\0\0\4data\0\0\0\0"
#define BIND "\x1b\0\0\0\x18session-bind@openssh.com\0\0\0\4host\0\0\0\7session\0\0\0\3sig\0"

TEST(requests_of_sshs_are_read_whole_or_not_at_all)
{
	const struct span sign = SPAN(SIGN), bind = SPAN(BIND);
	struct agent_request r;

	assert_int_equal(agent_read_request(sign, &r), 0);
	assert_int_equal(r.wish, AGENT_SIGN);
	assert_memory_equal(r.data.data, "data", 4);
	assert_int_equal(agent_read_request(bind, &r), 0);
	assert_int_equal(r.wish, AGENT_BIND);
	assert_false(r.forwards);
	assert_memory_equal(r.session.data, "session", 7);
	for (size_t len = 0; len < sign.len; len++)
		assert_int_equal(agent_read_request((struct span){sign.data, len}, &r), -EBADMSG);
	for (size_t len = sizeof("\x1b\0\0\0\x18session-bind@openssh.com") - 1; len < bind.len;
	     len++)
		assert_int_equal(agent_read_request((struct span){bind.data, len}, &r), -EBADMSG);
	assert_int_equal(agent_read_request(SPAN("\x11\1\2\3"), &r), 0); /* to add a key */
	assert_int_equal(r.wish, AGENT_OTHER);
	assert_int_equal(agent_read_request(SPAN("\x1b\0\0\0\5query"), &r), 0);
	assert_int_equal(r.wish, AGENT_OTHER);
	assert_int_equal(agent_read_request(SPAN("\x0b\0"), &r), -EBADMSG);
}

TEST(a_frame_has_a_size_that_is_bounded)
{
	struct span message;

	assert_int_equal(agent_frame("\0\0\0", 3, &message), 0);
	assert_int_equal(agent_frame("\0\0\0\2\x0b", 5, &message), 0);
	assert_int_equal(agent_frame("\0\0\0\1\x0b!", 6, &message), 1);
	assert_int_equal(message.len, 1);
	assert_int_equal(agent_frame("\0\0\0\0", 4, &message), -EMSGSIZE);
	assert_int_equal(agent_frame("\0\4\0\1", 4, &message), -EMSGSIZE);
}

TEST(a_login_names_its_session_key_and_host)
{
#define HEAD   "\0\0\0\3sid\x32\0\0\0\2me\0\0\0\x0essh-connection"
#define KEY    "\1\0\0\0\3alg\0\0\0\3key"
#define PLAIN  HEAD "\0\0\0\x09publickey" KEY
#define HOSTED HEAD "\0\0\0\x23publickey-hostbound-v00@openssh.com" KEY "\0\0\0\4host"
	const struct span hosted = SPAN(HOSTED);
	struct agent_login login;

	assert_true(agent_read_login(SPAN(PLAIN), &login));
	assert_memory_equal(login.session.data, "sid", 3);
	assert_memory_equal(login.key.data, "key", 3);
	assert_int_equal(login.host_key.len, 0);
	assert_true(agent_read_login(hosted, &login));
	assert_memory_equal(login.host_key.data, "host", 4);
	for (size_t len = 0; len < hosted.len; len++)
		assert_false(agent_read_login((struct span){hosted.data, len}, &login));
	assert_false(agent_read_login(SPAN(PLAIN "x"), &login));
	assert_false(agent_read_login(SPAN("SSHSIG\0\0\0\4file"), &login));
}

TEST(keys_are_named_by_fingerprint_or_comment)
{
	static const char *const lines[] = {"work@* github.com [2001:db8::1]:2222",
					    "SHA256:abc git.example.org unbound", NULL};
	static const char *const none[] = {"work@laptop", NULL}, *const bad[] = {"k a/b", NULL};
	const struct agent_key work = {"SHA256:x", "work@laptop"}, print = {"SHA256:abc", "mine"},
			       other = {"SHA256:y", "home"};
	struct agent_keys *k = NULL;
	char name[KNOWN_HOST_NAME];
	struct err err = {0};

	assert_int_equal(agent_keys_parse(&k, none, &err), -EINVAL);
	assert_int_equal(agent_keys_parse(&k, bad, &err), -EINVAL);
	assert_int_equal(agent_keys_parse(&k, lines, &err), 0);
	assert_true(agent_keys_offers(k, &work));
	assert_true(agent_keys_offers(k, &print));
	assert_false(agent_keys_offers(k, &other));
	assert_false(agent_keys_unbound(k, &work));
	assert_true(agent_keys_unbound(k, &print));
	agent_keys_host_name(agent_keys_host(k, &work, 0), name);
	assert_string_equal(name, "github.com");
	agent_keys_host_name(agent_keys_host(k, &work, 1), name);
	assert_string_equal(name, "[2001:db8::1]:2222");
	assert_null(agent_keys_host(k, &work, 2));
	assert_null(agent_keys_host(k, &other, 0));
	agent_keys_free(k);
}

TEST(known_hosts_tell_whose_key_it_is)
{
	const struct span key = SPAN("hostkey!");

#define B64 "aG9zdGtleSE="
	assert_true(agent_keys_host_has(SPAN("# Host a found: line 1\na ssh-ed25519 " B64 " x\n"),
					key));
	assert_true(agent_keys_host_has(SPAN("|1|x|y ssh-ed25519 " B64), key));
	assert_false(agent_keys_host_has(SPAN("a ssh-ed25519 aG9zdGtleT8=\n"), key));
	assert_false(agent_keys_host_has(SPAN("@cert-authority a ssh-ed25519 " B64 "\n"), key));
	assert_false(agent_keys_host_has(
		SPAN("a ssh-ed25519 " B64 "\n@revoked a ssh-ed25519 " B64 "\n"), key));
	assert_false(agent_keys_host_has(SPAN(""), key));
	assert_false(agent_keys_host_has(SPAN("a\n@revoked\nssh-ed25519 " B64 "\n"), key));
}

TEST(a_fingerprint_is_as_ssh_shows_it)
{
	/* A public key of a server: github.com's. */
	static const char line[] =
		"AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
	size_t len;
	AUTO_FREE char *key = base64_decode(line, &len);
	char text[AGENT_FINGERPRINT];

	assert_non_null(key);
	agent_fingerprint((struct span){key, len}, text);
	assert_string_equal(text, "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU");
}

/* ---- recordings ------------------------------------------------------------------------------ */

TEST(a_secret_that_becomes_known_is_starred_out)
{
	char text[] = "push tok.n-1234 and tok.n-1234 done", end[] = "Authorization: tok.n-";
	struct redact *r = NULL;
	struct err err = {0};
	char many[16];

	assert_int_equal(redact_new(&r, NULL, &err), 0);
	assert_true(redact_secret(r, "short"));
	assert_true(redact_secret(r, "tok.n-1234"));
	redact_text(r, text, strlen(text));
	assert_string_equal(text, "push ********** and ********** done");
	assert_int_equal(redact_open(r, end, strlen(end)), 6); /* more may follow */
	for (int i = 0; i < 63; i++) {
		snprintf(many, sizeof(many), "secret-%d", i);
		assert_true(redact_secret(r, many));
	}
	assert_false(redact_secret(r, "one-too-many"));
	assert_true(redact_secret(r, "tok.n-1234"));
	redact_free(r);
}

/* ---- network.secret -------------------------------------------------------------------------- */

static int parses(const char *line, struct secrets **ret)
{
	struct err err = {0};

	return secrets_parse(ret, (const char *const[]){line, NULL}, &err);
}

TEST(a_secret_has_a_name_a_host_a_header_and_a_command)
{
	static const char *const bad[] = {
		"",
		"KEY",
		"KEY, a.org, x-api-key",
		"KEY, a.org, x-api-key, ",
		"KEY, , x-api-key, echo",
		"LD_PRELOAD, a.org, x-api-key, echo",
		"PATH, a.org, x-api-key, echo",
		"A=B, a.org, x-api-key, echo",
		"1A, a.org, x-api-key, echo",
		"KEY, 192.0.2.1, x-api-key, echo",
		"KEY, *.a.org, x-api-key, echo",
		"KEY, a.org:443, x-api-key, echo",
		"KEY, a.org, Host, echo",
		"KEY, a.org, Transfer-Encoding, echo",
		"KEY, a.org, x api, echo",
	};
	const char *const twice[] = {"A, a.org, x, echo", "A, b.org, x, echo", NULL};
	struct secrets *one, *other;
	struct err err = {0};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(parses(bad[i], &one), -EINVAL);
	assert_int_equal(secrets_parse(&one, twice, &err), -EINVAL);
	assert_int_equal(secrets_parse(&one, NULL, &err), 0);
	assert_null(one);
	assert_int_equal(parses("KEY,API.Example.org., X-Api-Key ,\tpass show a, b", &one), 0);
	assert_string_equal(one->list[0].host, "api.example.org");
	assert_string_equal(one->list[0].header, "X-Api-Key");
	assert_string_equal(one->list[0].command, "pass show a, b");
	assert_int_equal(parses("KEY, a.org, x, echo", &other), 0);
	assert_int_equal(strlen(one->list[0].placeholder), 47);
	assert_string_not_equal(one->list[0].placeholder, other->list[0].placeholder);
	secrets_free(one);
	secrets_free(other);
}

TESTS(NULL, NULL)
