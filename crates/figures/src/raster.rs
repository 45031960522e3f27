//! From an SVG figure to a PNG picture, with the built-in font and nothing
//! from the system: no X, no browser, no font files.

use std::sync::Arc;

use resvg::{tiny_skia, usvg};

use crate::FigureError;

/// Pixels in the picture per px of the figure: sharp on screens that scale.
const DENSITY: f32 = 2.0;

/// Draws `svg`, which must be one of our own figures; nothing in a build that left pictures out.
///
/// # Errors
/// [`FigureError::Picture`] when the SVG does not parse or has no size.
pub fn png(svg: &str, name: &'static str) -> Result<Option<Vec<u8>>, FigureError> {
    let failed = |detail: String| FigureError::Picture { name, detail };
    let mut options =
        usvg::Options { font_family: "DejaVu Sans".to_string(), ..Default::default() };
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| failed(e.to_string()))?;
    let size = tree.size().to_int_size();
    let (width, height) = (size.width() * DENSITY as u32, size.height() * DENSITY as u32);
    let mut picture = tiny_skia::Pixmap::new(width, height)
        .ok_or_else(|| failed(format!("{width} x {height} pixels cannot be drawn")))?;
    let scale = tiny_skia::Transform::from_scale(DENSITY, DENSITY);
    resvg::render(&tree, scale, &mut picture.as_mut());
    picture.encode_png().map(Some).map_err(|e| failed(e.to_string()))
}
