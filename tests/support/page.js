// page - runs the script of a page of `cordon replay --export html` without a browser, and prints the shown text.
// SPDX-License-Identifier: MIT
//
// usage: node page.js FILE     The heading, each row of the list, indented: the lines of a diff that is opened.
const fs = require('fs');
class Element {
	constructor(tag) {
		Object.assign(this, { tagName: tag.toUpperCase(), children: [], own: '', className: '', style: {}, value: 0 });
		this.classList = { toggle() {} };
	}
	get lastChild() { return this.children[this.children.length - 1]; }
	get textContent() { return this.own + this.children.map(c => c.textContent).join(''); }
	set textContent(text) { this.own = text; this.children = []; }
	appendChild(e) { this.children.push(e); return e; }
}
const ids = {};
global.document = {
	getElementById: id => ids[id] = ids[id] || new Element('div'),
	createElement: tag => new Element(tag),
};
global.requestAnimationFrame = () => {};
const page = fs.readFileSync(process.argv[2], 'utf8');
(0, eval)(page.slice(page.lastIndexOf('<script>') + 8, page.lastIndexOf('</script>')));
console.log(ids.c.textContent);
console.log(ids.h.textContent);
for (const item of ids.m.children) {
	console.log(item.children[0].textContent);
	const details = item.children[1];
	if (!details)
		continue;
	details.ontoggle();
	for (const line of details.lastChild.children)
		console.log('    ' + line.textContent);
}
