//! `assert_frozen!`: compares the contracts of a package with a committed file.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, io, process};

use contract_runtime::__family::{UPDATE_COMMAND as COMMAND, is_update, methods};
use contract_runtime::{Policy, Registry};

use super::{Manifest, ToManifest as _};

/// Compares the contracts of one package's functions with those in a file, and says which methods are left out.
///
/// # Panics
///
/// When [`assert_frozen`] does, when they make no registry, and when there are none.
#[track_caller]
pub fn assert_package_frozen(directory: &str, file: &str, package: &str) {
    let registry = own_registry(package);
    let left_out = methods::of_package(package);
    if !left_out.is_empty() {
        let all: Vec<String> = left_out.iter().map(ToString::to_string).collect();
        methods::tell(&format!(
            "assert_frozen!: `{file}` leaves out {}, because methods come with their state; write `assert_frozen!({file:?}, \
             registry!().with(state).build()?)`, or `registry!().build()?` there if they are to be left out",
            methods::joined(&all)
        ));
    }
    assert_frozen(directory, file, &registry);
}

/// Builds a registry of one package, without the values that calls of its tools would need.
///
/// # Panics
///
/// When they make no registry, and when there are none.
#[must_use]
#[track_caller]
pub fn own_registry(package: &str) -> Registry {
    let mut builder = Registry::builder()
        .without_contexts()
        // What a test does to the process is not part of the contracts.
        .policy(Policy::Enforce);
    let linked = builder.add_package(package);
    assert!(
        linked,
        "{}",
        methods::none(
            package,
            &methods::of_package(package),
            "assert_frozen!(\"..\", registry)"
        )
    );
    match builder.build() {
        Ok(registry) => registry,
        Err(error) => panic!("{error}"),
    }
}

/// Compares the contracts of a registry with those in a file, or writes them there.
///
/// # Panics
///
/// When they differ, and when the file cannot be read or written.
#[track_caller]
pub fn assert_frozen(directory: &str, file: &str, registry: &Registry) {
    let path = Path::new(directory).join(file);
    let manifest = registry.manifest().without_locations();
    let judged = if is_update() {
        write(&path, &manifest.to_json())
    } else {
        compare(&path, &manifest)
    };
    if let Err(report) = judged {
        panic!("{report}");
    }
}

fn compare(path: &Path, manifest: &Manifest) -> Result<(), String> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!(
            "the contracts are not frozen yet: there is no `{shown}`; write it with `{COMMAND}`, and commit it"
        ),
        _ => format!("`{shown}` cannot be read: {error}"),
    })?;
    let frozen = Manifest::from_json(&text).map_err(|error| {
        format!("`{shown}`: {error}; restore the file, or write it again with `{COMMAND}`")
    })?;
    let diff = manifest.diff(&frozen);
    if diff.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{diff}\nfrozen in `{shown}`; to accept the changes run `{COMMAND}`, and commit the file"
    ))
}

/// Writes all of a file or nothing: tests run side by side, and may freeze into one file.
fn write(path: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|before| before == text) {
        return Ok(());
    }
    let whole = || {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let beside = beside(path);
        fs::write(&beside, text)?;
        fs::rename(&beside, path).inspect_err(|_| drop(fs::remove_file(&beside)))
    };
    whole().map_err(|error| format!("`{}` cannot be written: {error}", path.display()))
}

/// A name that no other test and no other process uses.
fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{count}.tmp", process::id()));
    PathBuf::from(name)
}
