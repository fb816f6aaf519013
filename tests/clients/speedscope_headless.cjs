// SPDX-License-Identifier: MIT
// Opens files in speedscope's own importer, without a browser: one line of JSON a file.
//
//     node speedscope_headless.cjs FILE...
//     {"file", "importer", "profiles": [{"name", "unit", "total",
//      "frames": [{"name", "file", "line", "self", "total"}]}]}      or      {"file", "error"}
//
// The package ships one bundle that starts a user interface. It is evaluated with a document that
// accepts everything and does nothing; before that, the one function that imports a file is made
// reachable.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const release = path.join(__dirname, 'node_modules', 'speedscope', 'dist', 'release');

function readBundle() {
    const name = fs.readdirSync(release).find((file) => /^speedscope-.*\.js$/.test(file));
    const source = fs.readFileSync(path.join(release, name), 'utf8');
    const importer = new RegExp(
        'async function ([\\w$]+)\\([\\w$]+,[\\w$]+\\)' +
        '\\{return\\(await [\\w$]+\\)\\.importProfilesFromArrayBuffer\\(');
    const match = importer.exec(source);
    if (!match) {
        throw new Error('the importer is not where it was in speedscope 1.25.0');
    }
    const hook = `globalThis.importFile = (name, bytes) => ${match[1]}(name, bytes);`;
    return source.replace(match[0], hook + match[0]);
}

// Any property of it is one more of it, and it can be called and constructed.
function anyElement() {
    const known = { length: 0, childNodes: [], style: {} };
    return new Proxy(function () {}, {
        get: (target, key) =>
            key === Symbol.toPrimitive ? () => '' : key in known ? known[key] : anyElement(),
        set: () => true,
        apply: () => anyElement(),
        construct: () => anyElement(),
        has: () => true,
    });
}

function browser(log) {
    const nothing = () => {};
    const note = (...words) => log.push(words.join(' '));
    const context = {
        console: { log: note, warn: note, error: note, assert: nothing },
        TextDecoder, TextEncoder, Uint8Array, ArrayBuffer, URL, WebAssembly, Promise, performance,
        atob, btoa, setTimeout, clearTimeout, setInterval: nothing, requestAnimationFrame: nothing,
        document: anyElement(),
        localStorage: { getItem: () => null, setItem: nothing },
        navigator: { userAgent: 'none', platform: 'Linux' },
        location: { hash: '', href: 'file:///none', protocol: 'file:' },
        matchMedia: () => ({ matches: false, addEventListener: nothing, addListener: nothing }),
        addEventListener: nothing,
        removeEventListener: nothing,
        devicePixelRatio: 1, innerWidth: 800, innerHeight: 600,
    };
    context.window = context.self = context.globalThis = context;
    return vm.createContext(context);
}

function describe(profile) {
    const frames = [];
    profile.forEachFrame((frame) => frames.push({
        name: frame.name,
        file: frame.file,
        line: frame.line,
        self: frame.getSelfWeight(),
        total: frame.getTotalWeight(),
    }));
    return {
        name: profile.getName(),
        unit: profile.getWeightUnit(),
        total: profile.getTotalWeight(),
        frames,
    };
}

async function main() {
    const log = [];
    const context = browser(log);
    try {
        vm.runInContext(readBundle(), context);
    } catch (error) {
        // Drawing fails, after the importer has been defined.
        if (!context.importFile) {
            throw error;
        }
    }
    for (const file of process.argv.slice(2)) {
        log.length = 0;
        const content = fs.readFileSync(file);
        const bytes = content.buffer.slice(content.byteOffset, content.byteOffset + content.length);
        let report = { file, error: 'no importer knows this file' };
        try {
            const group = await context.importFile(path.basename(file), bytes);
            if (group) {
                const importer = log.find((line) => line.startsWith('Importing as')) || '';
                report = { file, importer, profiles: group.profiles.map(describe) };
            }
        } catch (error) {
            report = { file, error: error.message };
        }
        console.log(JSON.stringify(report));
    }
}

main().catch((error) => {
    console.error(error.message);
    process.exit(1);
});
