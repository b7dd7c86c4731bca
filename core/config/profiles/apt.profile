; apt - the archives of Debian and Ubuntu; packages are signed, so the older port will do.
[profile]
	summary = packages of Debian and Ubuntu
[rule "archives"]
	allow = connect deb.debian.org:80
	allow = connect deb.debian.org:443
	allow = connect security.debian.org:80
	allow = connect security.debian.org:443
	allow = connect *.archive.ubuntu.com:80
	allow = connect archive.ubuntu.com:80
	allow = connect security.ubuntu.com:80
	allow = connect ports.ubuntu.com:80
	match = connect de.archive.ubuntu.com:80
	not-match = connect example.com:80
