# AppArmor profile of cordon, for Ubuntu 23.10 and later, where a program needs one to make user
# namespaces. `make install` puts it in /etc/apparmor.d/cordon. It confines nothing: what cordon may do
# is as before, and what it starts is confined by cordon itself.
abi <abi/4.0>,
include <tunables/global>

profile cordon @PREFIX@/bin/cordon flags=(unconfined) {
	userns,

	include if exists <local/cordon>
}
