//! The artifacts of a result: as data, or written to a folder.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract_runtime::Artifact;
use serde_json::{Value, json};

use super::CommandError;

/// An artifact, and where it was written.
pub(super) struct SavedArtifact<'a> {
    artifact: &'a Artifact,
    path: Option<PathBuf>,
}

impl<'a> SavedArtifact<'a> {
    /// All artifacts of a call, written to a folder if there is one.
    ///
    /// After the first that cannot be written, the rest is returned as data: the call has been made, and its result must not be
    /// lost.
    pub(super) fn new(
        artifacts: &'a [Artifact],
        folder: Option<&Path>,
    ) -> (Vec<Self>, Option<CommandError>) {
        let mut folder = folder;
        let mut error = None;
        let mut kept = Vec::with_capacity(artifacts.len());
        for (index, artifact) in artifacts.iter().enumerate() {
            let path = match folder.map(|folder| keep(artifact, index, folder)) {
                Some(Ok(path)) => Some(path),
                Some(Err(unwritten)) => {
                    error = Some(unwritten);
                    folder = None;
                    None
                }
                None => None,
            };
            kept.push(Self { artifact, path });
        }
        (kept, error)
    }

    /// Renders it as JSON: its path, or else its content.
    pub(super) fn json(&self) -> Value {
        let mut data = match self.artifact {
            Artifact::Image { media_type, .. } => {
                json!({"type": "image", "media_type": media_type})
            }
            Artifact::File {
                name, media_type, ..
            } => {
                json!({"type": "file", "name": name, "media_type": media_type})
            }
            Artifact::Value { name, .. } => json!({"type": "value", "name": name}),
            _ => json!({"type": "other"}),
        };
        match (&self.path, self.artifact) {
            (Some(path), _) => data["path"] = path.to_string_lossy().into(),
            (None, Artifact::Value { value, .. }) => data["value"] = value.clone(),
            (None, Artifact::Image { data: bytes, .. } | Artifact::File { data: bytes, .. }) => {
                data["base64"] = STANDARD.encode(bytes).into();
            }
            (None, other) => data["value"] = json!(other),
        }
        data
    }
}

impl fmt::Display for SavedArtifact<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.artifact {
            Artifact::Image { media_type, data } => {
                write!(f, "image, {media_type}, {} bytes", data.len())?;
            }
            Artifact::File {
                name,
                media_type,
                data,
            } => {
                write!(f, "file `{name}`, {media_type}, {} bytes", data.len())?;
            }
            Artifact::Value { name, value } => write!(f, "value `{name}`, {value}")?,
            other => write!(f, "artifact, {}", json!(other))?,
        }
        match (&self.path, self.artifact) {
            (Some(path), _) => write!(f, ", written to {}", path.display()),
            (None, Artifact::Value { .. }) => Ok(()),
            (None, _) => f.write_str("; `--out FOLDER` writes it"),
        }
    }
}

fn bytes(artifact: &Artifact) -> Vec<u8> {
    match artifact {
        Artifact::Image { data, .. } | Artifact::File { data, .. } => data.clone(),
        Artifact::Value { value, .. } => format!("{value:#}\n").into_bytes(),
        other => format!("{:#}\n", json!(other)).into_bytes(),
    }
}

/// The longest file name in bytes; file systems allow 255.
const LONGEST: usize = 120;

/// A safe file name, whatever the tool calls it: no folders, not hidden, only plain characters.
fn file_name(artifact: &Artifact, index: usize) -> String {
    let number = index + 1;
    match artifact {
        Artifact::Image { media_type, .. } => {
            let kind = plain(media_type.rsplit('/').next().unwrap_or_default());
            // `image/svg+xml` is an `svg` file.
            let kind = kind
                .split('_')
                .next()
                .filter(|kind| !kind.is_empty())
                .unwrap_or("bin");
            format!("image-{number}.{kind}")
        }
        Artifact::File { name, .. } => match plain(name) {
            name if name.is_empty() => format!("file-{number}"),
            name => name,
        },
        Artifact::Value { name, .. } => match plain(name) {
            name if name.is_empty() => format!("value-{number}.json"),
            name => format!("{name}.json"),
        },
        _ => format!("artifact-{number}.json"),
    }
}

fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let safe = |one: char| match one {
        '.' | '-' | '_' => one,
        one if one.is_alphanumeric() => one,
        _ => '_',
    };
    let mut name: String = last.trim_start_matches('.').chars().map(safe).collect();
    while name.len() > LONGEST {
        name.pop();
    }
    name
}

fn keep(artifact: &Artifact, index: usize, folder: &Path) -> Result<PathBuf, CommandError> {
    let unwritten = |path: &Path| {
        let path = path.to_owned();
        move |source| CommandError::Unwritten { path, source }
    };
    fs::create_dir_all(folder).map_err(unwritten(folder))?;
    let wanted = folder.join(file_name(artifact, index));
    write(&wanted, &bytes(artifact)).map_err(unwritten(&wanted))
}

/// Writes a new file, under another name if the first one exists.
fn write(wanted: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let stem = wanted.file_stem().unwrap_or_default().to_string_lossy();
    let end = wanted
        .extension()
        .map(|end| format!(".{}", end.to_string_lossy()));
    let end = end.unwrap_or_default();
    let mut path = wanted.to_owned();
    for another in 2_u32.. {
        // Not through a symbolic link, which `File::create` would follow.
        match File::create_new(&path) {
            Ok(mut file) => {
                file.write_all(bytes)?;
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                path = wanted.with_file_name(format!("{stem}-{another}{end}"));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::{Artifact, file_name};

    #[test]
    fn no_name_leaves_the_folder() {
        for (name, expected) in [
            ("table.csv", "table.csv"),
            ("../../etc/passwd", "passwd"),
            ("..", "file-1"),
            ("", "file-1"),
            ("a/", "file-1"),
            (".bashrc", "bashrc"),
            ("C:\\windows\\x.dll", "x.dll"),
            ("a\u{1b}[31m\nb\u{202e}.txt", "a__31m_b_.txt"),
            ("Größe 1.txt", "Größe_1.txt"),
        ] {
            let artifact = Artifact::file(name, "text/plain", "x");
            assert_eq!(file_name(&artifact, 0), expected, "{name:?}");
        }
        let long = Artifact::file("ä".repeat(1000), "text/plain", "x");
        assert_eq!(file_name(&long, 0).chars().count(), 60);
        let image = |kind: &str| file_name(&Artifact::image(kind, "x"), 2);
        assert_eq!(image("image/png"), "image-3.png");
        assert_eq!(image("image/svg+xml"), "image-3.svg");
        assert_eq!(image("../x"), "image-3.x");
        assert_eq!(image(""), "image-3.bin");
    }
}
