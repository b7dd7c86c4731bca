/* run_network - the options of a run about its network: modes, hosts, published ports. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/config/config.h"
#include "core/net/host.h"
#include "core/os/socket.h"
#include "core/session/session.h"
#include "tui/commands/run.h"

/* Returns the option that requests a network gate, or NULL. */
static const char *network_words(const struct run_options *o)
{
	return o->allow_network		   ? "--allow-network"
	       : o->allow_domain.n	   ? "--allow-domain"
	       : o->publish.n		   ? "--publish"
	       : str_eq(o->network, "ask") ? "--network ask"
					   : NULL;
}

int run_check_network(const struct run_options *o, struct err *err)
{
	const char *mode = o->network ? o->network : o->no_network ? "none" : NULL;

	if (mode && !str_eq(mode, "none") && !str_eq(mode, "ask") && !str_eq(mode, "open"))
		return err_say(err, -EINVAL, "--network '%s': not one of 'none', 'ask', 'open'",
			       mode);
	if (o->no_network && !str_eq(mode, "none"))
		return err_say(err, -EINVAL,
			       "--network %s and --no-network: they contradict: keep one", mode);
	if (network_words(o) && mode && !str_eq(mode, "ask"))
		return err_say(err, -EINVAL, "%s and %s%s: they contradict: keep one",
			       network_words(o), o->no_network ? "--no-network" : "--network ",
			       o->no_network ? "" : mode);
	for (size_t i = 0; i < o->allow_domain.n; i++) {
		struct net_pattern p;
		const char *why;

		if (!net_pattern_parse(&p, o->allow_domain.list[i], &why))
			return err_say(err, -EINVAL, "--allow-domain '%s': %s",
				       o->allow_domain.list[i], why);
	}
	return 0;
}

/* Parses PORT[:HOSTPORT]. */
static bool read_ports(const char *text, struct port_pair *ret)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10), host_port = port;

	if (*text < '0' || *text > '9')
		return false;
	if (*end == ':' && end[1] >= '0' && end[1] <= '9')
		host_port = strtoul(end + 1, &end, 10);
	*ret = (struct port_pair){(uint16_t)port, (uint16_t)host_port};
	return *end == '\0' && port > 0 && port <= UINT16_MAX && host_port > 0 &&
	       host_port <= UINT16_MAX;
}

/* Returns whether a port is taken, before anything runs. The relay reports a port that is taken
 * later. */
static bool is_taken(uint16_t port)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 && errno == EADDRINUSE;
}

static int choose_ports(struct run *run, struct err *err)
{
	const struct strings *list = &run->opt.publish;

	if (list->n == 0)
		return 0;
	run->ports = xcalloc(list->n + 1, sizeof(*run->ports));
	run->spec.publish = run->ports;
	for (size_t i = 0; i < list->n; i++) {
		struct port_pair *p = &run->ports[i];

		if (!read_ports(list->list[i], p))
			return err_say(err, -EINVAL,
				       "--publish '%s': not a port, or two: 3000, 3000:8080",
				       list->list[i]);
		if (is_taken(p->host_port))
			return err_say(
				err, -EADDRINUSE,
				"--publish %s: port %u is taken on this host: choose another "
				"one: --publish %u:%u",
				list->list[i], p->host_port, p->port,
				p->host_port < 10000 ? p->host_port + 10000 : 10000);
	}
	return 0;
}

/* Chooses the network mode. A run that was told to ask does not start if hosts cannot be asked
 * about. */
int run_choose_network(struct run *run, struct err *err)
{
	const struct run_options *o = &run->opt;
	const char *mode = o->network	      ? o->network
			   : o->no_network    ? "none"
			   : network_words(o) ? "ask"
					      : config_str(run->config, "network.mode");
	bool asks = str_eq(mode, "ask");

	run->spec.allow_network = str_eq(mode, "open");
	run->spec.ask_network = asks && run->spec.backend->asks_network;
	run->spec.hosts = o->allow_domain.list;
	run->spec.public_hosts = o->allow_network;
	if (!asks || run->spec.ask_network || !network_words(o))
		return choose_ports(run, err);
	return err_say(err, -EOPNOTSUPP,
		       "%s: backend %s cannot tell hosts apart: say --network open for the host's "
		       "own network, or --no-network",
		       network_words(o), run->spec.backend->name);
}
