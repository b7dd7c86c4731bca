/* spawn_secrets - puts placeholders inside, and says which certificates programs there trust. */
/* SPDX-License-Identifier: MIT */
#include "core/base/path.h"
#include "core/broker/broker.h"
#include "core/broker/secrets.h"
#include "core/config/config.h"
#include "core/session/start/env.h"
#include "core/session/session_priv.h"
#include "core/session/start/spawn.h"

/* Variables of OpenSSL and programs built on it, node, python's requests and pip, curl, git,
 * cargo. */
static const char *const trusts[] = {"SSL_CERT_FILE=" CA_INSIDE,
				     "NODE_EXTRA_CA_CERTS=" CA_INSIDE,
				     "REQUESTS_CA_BUNDLE=" CA_INSIDE,
				     "CURL_CA_BUNDLE=" CA_INSIDE,
				     "GIT_SSL_CAINFO=" CA_INSIDE,
				     "CARGO_HTTP_CAINFO=" CA_INSIDE,
				     "PIP_CERT=" CA_INSIDE,
				     "NIX_SSL_CERT_FILE=" CA_INSIDE,
				     NULL};

/* Reads the secrets if connections can go through a process outside; otherwise says that they
 * cannot. */
int session_read_secrets(struct session *s, struct session_spec *spec, struct err *err)
{
	const char *const *lines = NULL;
	const size_t size = sizeof(s->model.secrets);
	size_t n = 0;
	int r;

	config_list(spec->config, "network.secret", &lines);
	if (lines &&
	    (!spec->ask_network || spec->backend->shares_network || spec->backend->no_secrets)) {
		session_tell_note(s, "network.secret is not offered in this session: it needs "
				     "--network ask and network namespaces");
		return 0;
	}
	r = secrets_parse(&s->secrets, lines, err);
	for (size_t i = 0; r == 0 && s->secrets && i < s->secrets->n && n < size; i++)
		n += (size_t)snprintf(s->model.secrets + n, size - n, "%s%s", i ? ", " : "",
				      s->secrets->list[i].name);
	spec->secrets = s->secrets;
	return r;
}

void spawn_secrets(struct spawn_plan *p, const struct session_spec *spec)
{
	const struct secrets *all = spec->secrets;
	AUTO_FREE char *name = xasprintf("ca-%s.pem", p->spec.session);

	if (!all)
		return;
	p->ca = path_join(spec->state_dir, name);
	p->spec.ca = p->ca;
	p->spec.secrets = all;
	p->spec.secrets_sock = broker_secrets(spec->broker);
	p->env = env_set(p->env, trusts, NULL);
	for (size_t i = 0; i < all->n; i++) {
		AUTO_FREE char *set =
			xasprintf("%s=%s", all->list[i].name, all->list[i].placeholder);

		p->env = env_set(p->env, (const char *const[]){set, NULL}, NULL);
	}
	p->spec.env = (const char *const *)p->env;
}
