//! The crates of a workspace that can have tools, from `cargo metadata`.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// What keeps the command from saying anything about the contracts.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// The Cargo that runs this command.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// A crate with a library that depends on `contract-runtime`.
#[derive(Debug)]
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) directory: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) crates: Vec<Crate>,
    /// Crates without a library whose tools cannot be reached, and why.
    pub(crate) left_out: Vec<(String, String)>,
    /// The dependency on `contract-program`, as a manifest writes it, without its features.
    pub(crate) program: String,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    source: Option<String>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

const RUNTIME: &str = "contract-runtime";

/// What the program that links the crates is made of.
pub(crate) const PROGRAM: &str = "contract-program";

impl Workspace {
    /// Reads the workspace of a manifest; `wanted` selects crates, if there are any.
    pub(crate) fn read(manifest: Option<&Path>, wanted: &[String]) -> Result<Self, Failure> {
        let mut cargo = Command::new(cargo());
        cargo.args(["metadata", "--format-version", "1"]);
        if let Some(path) = manifest {
            cargo.arg("--manifest-path").arg(path);
        }
        let output = cargo.stderr(std::process::Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err("`cargo metadata` failed".into());
        }
        Self::new(serde_json::from_slice(&output.stdout)?, wanted)
    }

    fn new(metadata: Metadata, wanted: &[String]) -> Result<Self, Failure> {
        let members: BTreeSet<_> = metadata.workspace_members.iter().collect();
        let own = |package: &&Package| members.contains(&package.id);
        for name in wanted {
            if !metadata
                .packages
                .iter()
                .filter(own)
                .any(|package| package.name == *name)
            {
                return Err(format!("the workspace has no package `{name}`").into());
            }
        }
        let mut runtimes = BTreeSet::new();
        let (mut crates, mut left_out) = (Vec::new(), Vec::new());
        let chosen = |package: &&Package| wanted.is_empty() || wanted.contains(&package.name);
        for package in metadata.packages.iter().filter(own).filter(chosen) {
            let Some(runtime) = metadata.runtime_of(&package.id) else {
                continue;
            };
            if !package.has_library() {
                let reason = "it is a program, which nothing can link; run the commands of the program itself";
                left_out.push((package.name.clone(), reason.to_owned()));
                continue;
            }
            runtimes.insert(runtime);
            crates.push(Crate {
                name: package.name.clone(),
                version: package.version.clone(),
                directory: package.directory(),
            });
        }
        let program = match *runtimes.into_iter().collect::<Vec<_>>() {
            [] => return Err("no library of the workspace depends on `contract-runtime`".into()),
            [id] => metadata.program(id)?,
            _ => return Err("the crates depend on several versions of `contract-runtime`; choose one with `--package`".into()),
        };
        Ok(Self {
            root: metadata.workspace_root,
            target: metadata.target_directory,
            crates,
            left_out,
            program,
        })
    }
}

impl Metadata {
    fn package(&self, id: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.id == id)
    }

    /// The id of the runtime on which a package depends, itself or through others.
    fn runtime_of(&self, id: &str) -> Option<&str> {
        let nodes: HashMap<_, _> = self
            .resolve
            .nodes
            .iter()
            .map(|node| (&*node.id, node))
            .collect();
        let mut seen = BTreeSet::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let node = nodes.get(id).filter(|_| seen.insert(id))?;
            for dependency in &node.deps {
                if !dependency.dep_kinds.iter().any(|kind| kind.kind.is_none()) {
                    continue;
                }
                let package = self.package(&dependency.pkg)?;
                if package.name == RUNTIME {
                    return Some(&package.id);
                }
                if !seen.contains(&*dependency.pkg) {
                    open.push(&dependency.pkg);
                }
            }
        }
        None
    }

    /// The `contract-program` that belongs to this runtime: of the same version, from the same place.
    fn program(&self, runtime: &str) -> Result<String, Failure> {
        let runtime = self
            .package(runtime)
            .ok_or("`cargo metadata` names a package that it does not list")?;
        let version = &runtime.version;
        match runtime.source.as_deref() {
            Some(source) if source.starts_with("git+") => {
                let (url, revision) = source["git+".len()..].split_once('#').unwrap_or_default();
                let url = url.split('?').next().unwrap_or_default();
                Ok(format!("git = \"{url}\", rev = \"{revision}\""))
            }
            Some(_) => Ok(format!("version = \"={version}\"")),
            None => {
                let known = self
                    .packages
                    .iter()
                    .find(|one| one.name == PROGRAM && one.source.is_none());
                let beside = [
                    "../companions/program".to_owned(),
                    format!("../{PROGRAM}-{version}"),
                ];
                let beside = beside.map(|path| runtime.directory().join(path));
                let mut paths = known.map(Package::directory).into_iter().chain(beside);
                match paths.find(|path| path.join("Cargo.toml").exists()) {
                    Some(path) => Ok(format!("path = {:?}", path.display().to_string())),
                    None => Ok(format!("version = \"={version}\"")),
                }
            }
        }
    }
}

impl Package {
    fn directory(&self) -> PathBuf {
        self.manifest_path
            .parent()
            .unwrap_or(Path::new(""))
            .to_owned()
    }

    fn has_library(&self) -> bool {
        let kinds = self.targets.iter().flat_map(|target| &target.kind);
        kinds
            .into_iter()
            .any(|kind| kind == "lib" || kind == "rlib")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Workspace;

    #[test]
    fn crates_are_found_through_what_they_depend_on() {
        let package = |name: &str, source: Option<&str>, kind: &str| {
            json!({"id": name, "name": name, "version": "1.0.0", "source": source, "manifest_path": format!("/w/{name}/Cargo.toml"),
                "targets": [{"kind": [kind]}]})
        };
        let needs = |id: &str, other: &[&str], kind: Option<&str>| {
            let other: Vec<_> = other
                .iter()
                .map(|id| json!({"pkg": id, "dep_kinds": [{"kind": kind}]}))
                .collect();
            json!({"id": id, "deps": other})
        };
        let registry = Some("registry+https://github.com/rust-lang/crates.io-index");
        let metadata = || {
            serde_json::from_value(json!({
            "workspace_root": "/w", "target_directory": "/w/target",
            "workspace_members": ["a", "b", "c", "d"],
            "packages": [
                package("a", None, "lib"), package("b", None, "bin"), package("c", None, "lib"), package("d", None, "lib"),
                package("between", registry, "lib"), package("contract-runtime", registry, "lib"),
            ],
            "resolve": {"nodes": [
                needs("a", &["between"], None), needs("b", &["contract-runtime"], None), needs("c", &[], None),
                needs("d", &["contract-runtime"], Some("dev")),
                needs("between", &["contract-runtime"], None), needs("contract-runtime", &[], None),
            ]},
        }))
        .unwrap()
        };
        let workspace = Workspace::new(metadata(), &[]).unwrap();
        let names: Vec<_> = workspace.crates.iter().map(|one| &*one.name).collect();
        assert_eq!(names, ["a"]);
        assert_eq!(workspace.left_out[0].0, "b");
        assert_eq!(workspace.program, "version = \"=1.0.0\"");
        let missing = Workspace::new(metadata(), &["e".to_owned()]).unwrap_err();
        assert_eq!(missing.to_string(), "the workspace has no package `e`");
        assert!(Workspace::new(metadata(), &["c".to_owned()]).is_err());
    }
}
